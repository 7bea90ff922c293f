// mpi_truth FILE: what MPI itself reports for this process, as JSON: rank, size, its place among the
// ranks that share memory with it, and the host of every rank of its world, so that each file
// describes the whole world.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { host_size = 64 };

int main(int argc, char** argv) {
  int rank, size, local_rank, local_size;
  char host[host_size] = "";
  MPI_Comm local;
  if (argc != 2 || MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &local);
  MPI_Comm_rank(local, &local_rank);
  MPI_Comm_size(local, &local_size);
  gethostname(host, host_size - 1);
  char* hosts = malloc((size_t)size * host_size);
  MPI_Allgather(host, host_size, MPI_CHAR, hosts, host_size, MPI_CHAR, MPI_COMM_WORLD);
  FILE* file = fopen(argv[1], "w");
  if (file == NULL) return 1;
  fprintf(file,
          "{\"rank\": %d, \"world_size\": %d, \"local_rank\": %d, \"local_size\": %d, \"hosts\": [",
          rank, size, local_rank, local_size);
  for (int i = 0; i < size; ++i)
    fprintf(file, "%s\"%s\"", i > 0 ? ", " : "", hosts + (size_t)i * host_size);
  fprintf(file, "]}\n");
  if (fclose(file) != 0) return 1;
  MPI_Finalize();
  return 0;
}
