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
 * No function prints, ends the process, or throws a C++ exception. All may be called from any
 * thread, as long as nothing changes the environment at the same time.
 */

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): C */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HPCBOOT_UNKNOWN = -1,     /* an int field whose value is unknown */
  HPCBOOT_ERROR_SIZE = 2048 /* bytes, enough for all usual error texts */
};

/*
 * The identity of this process. An unknown int is HPCBOOT_UNKNOWN, an unknown string is empty;
 * rank, world_size, local_rank and launcher are always known after a return value of 0. Strings are
 * NUL-terminated; one that does not fit is an error and never truncated.
 *
 * Later versions add fields at the end; struct_size tells which of them the caller has.
 */
typedef struct hpcboot_resolution {
  size_t struct_size;    /* set by the caller, before the call: sizeof(hpcboot_resolution) */
  int rank;              /* 0 <= rank < world_size, unique over all processes */
  int world_size;        /* number of processes */
  int local_rank;        /* 0 <= local_rank < local_size, unique on this host */
  int local_size;        /* number of processes on this host */
  int node_rank;         /* index of this host among the hosts of the launch */
  int num_nodes;         /* number of hosts of the launch */
  int master_port;       /* where rank 0 serves its store, or finds the agent's */
  int device;            /* accelerator index as seen by this process */
  int agent_store;       /* 1: torchrun's agent serves the store, rank 0 must not; else 0 */
  char launcher[32];     /* "slurm", "openmpi", …; "single" if no launcher placed this process */
  char scheduler[32];    /* "slurm", "pbs", …; empty outside a job */
  char job_id[256];      /* as the scheduler writes it */
  char master_addr[256]; /* name or address of rank 0's host */
  char interface_name[64];    /* the network interface for traffic between ranks */
  char interface_address[64]; /* this host's address on it, numeric */
} hpcboot_resolution;

/*
 * Determines the identity of this process from its environment and host (hpcboot/resolve.hpp
 * documents what is read). Opens no connection.
 *
 * error, if not NULL, receives the error text, NUL-terminated and truncated to error_size bytes; it
 * is empty after a return value of 0.
 *
 * Returns 0, or the exit code that hpcboot's programs would return: at least 20, by kind of error
 * (bootstrap/README.md); 2 if out is NULL or its struct_size is too small; 1 for any other failure
 * (memory).
 * After an error, *out contains HPCBOOT_UNKNOWN and empty strings.
 */
int hpcboot_resolve(hpcboot_resolution* out, char* error, size_t error_size);

/*
 * The same for an environment dumped elsewhere with `printenv` or `env -0`: nothing is read from
 * this process, this host or its files. dump need not be NUL-terminated. Returns 2 also if dump is
 * NULL and dump_size is not 0.
 */
int hpcboot_resolve_dump(const char* dump, size_t dump_size, hpcboot_resolution* out, char* error,
                         size_t error_size);

/* The name of an error code, "malformed_value"; "unknown" for any other number. */
const char* hpcboot_error_name(int code);

/* The version of the library, "1.2.3". */
const char* hpcboot_version(void);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*,readability-identifier-naming) */

#endif
