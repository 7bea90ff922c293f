#ifndef HPCBOOT_HPCBOOT_H
#define HPCBOOT_HPCBOOT_H

/*
 * hpcboot for C (C99) and, by iso_c_binding, for Fortran (hpcboot.f90, installed with the CMake
 * package).
 *
 *     #include <hpcboot/hpcboot.h>
 *
 *     hpcboot_resolution me;
 *     char error[HPCBOOT_ERROR_SIZE];
 *     int code;
 *     me.struct_size = sizeof me;
 *     code = hpcboot_resolve(&me, error, sizeof error);
 *     if (code != 0) {
 *       fputs(error, stderr);
 *       return code;
 *     }
 *     printf("rank %d of %d by %s\n", me.rank, me.world_size, me.launcher);
 *
 * No function prints, ends the process, or lets a C++ exception out. All may be called from any
 * thread, as long as nothing changes the environment meanwhile.
 */

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): C */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HPCBOOT_UNKNOWN = -1,     /* an int field that the environment does not tell */
  HPCBOOT_ERROR_SIZE = 2048 /* bytes that hold every usual error text */
};

/*
 * Who this process is. Every int is HPCBOOT_UNKNOWN and every text is empty where nothing tells;
 * rank, world_size, local_rank and launcher are always known after a return of 0. Texts end with a
 * NUL within their size; one that would not fit is an error, never cut off.
 *
 * Later versions add fields at the end: struct_size says which of them the caller has.
 */
typedef struct hpcboot_resolution {
  size_t struct_size; /* set by the caller, before the call: sizeof(hpcboot_resolution) */
  int rank;           /* 0 <= rank < world_size, unique over all processes */
  int world_size;     /* number of processes */
  int local_rank;     /* 0 <= local_rank < local_size, unique on this host */
  int local_size;     /* number of processes on this host */
  int node_rank;      /* index of this host among the hosts of the launch */
  int num_nodes;      /* number of hosts of the launch */
  int master_port;    /* where rank 0 serves, or is served */
  int device;         /* accelerator index as this process sees them */
  int agent_store;    /* 1: torchrun's agent serves at master_addr, rank 0 must not; else 0 */
  char launcher[32];  /* "slurm", "openmpi", …; "single" where no launcher placed this process */
  char scheduler[32]; /* "slurm", "pbs", …; empty outside a job */
  char job_id[256];   /* as the scheduler writes it */
  char master_addr[256];      /* a name or an address of rank 0's host */
  char interface_name[64];    /* the network interface for traffic between ranks */
  char interface_address[64]; /* this host's address on it, numeric */
} hpcboot_resolution;

/*
 * Works out who this process is, from its environment and host (hpcboot/resolve.hpp tells what is
 * read). Opens no connection.
 *
 * error, if not NULL, receives the error text, NUL-terminated and cut off at error_size bytes; it
 * is the empty string after a return of 0.
 *
 * Returns 0, or the exit code that hpcboot's programs would end with: 20 and up by kind of error
 * (README.md), 2 where out is NULL or its struct_size too small, 1 for any other failure (memory).
 * After an error *out holds HPCBOOT_UNKNOWN and empty texts.
 */
int hpcboot_resolve(hpcboot_resolution* out, char* error, size_t error_size);

/*
 * The same for an environment that was dumped elsewhere by `printenv` or `env -0`: nothing is taken
 * from this process, host or its files. dump need not end with a NUL.
 */
int hpcboot_resolve_dump(const char* dump, size_t dump_size, hpcboot_resolution* out, char* error,
                         size_t error_size);

/* The name of an error code, "malformed_value"; "unknown" for a number that is none. */
const char* hpcboot_error_name(int code);

/* The version of the library, "1.2.3". */
const char* hpcboot_version(void);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*,readability-identifier-naming) */

#endif
