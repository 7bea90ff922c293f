/* A C program gets its rank: in this process, then in an environment captured elsewhere. */
#include <hpcboot/hpcboot.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  static const char dump[] =
      "SLURM_PROCID=3\nSLURM_LOCALID=1\nSLURM_STEP_ID=0\nSLURM_STEP_NUM_TASKS=4\n"
      "SLURM_STEP_NUM_NODES=2\nSLURM_NODEID=1\nSLURM_STEP_TASKS_PER_NODE=2(x2)\n"
      "SLURM_JOB_ID=7\n";
  hpcboot_resolution me;
  char error[HPCBOOT_ERROR_SIZE];
  int code;
  me.struct_size = sizeof me;
  code = hpcboot_resolve(&me, error, sizeof error);
  if (code != 0) {
    fputs(error, stderr);
    return code;
  }
  printf("hpcboot %s: rank %d of %d by %s\n", hpcboot_version(), me.rank, me.world_size,
         me.launcher);

  if (hpcboot_resolve_dump(dump, strlen(dump), &me, error, sizeof error) != 0) return 1;
  if (me.rank != 3 || me.world_size != 4 || me.local_rank != 1 || me.node_rank != 1) return 1;
  if (strcmp(me.launcher, "slurm") != 0 || strcmp(me.job_id, "7") != 0) return 1;
  if (me.device != HPCBOOT_UNKNOWN || me.interface_name[0] != '\0') return 1;
  code = hpcboot_resolve_dump("SLURM_STEP_ID=0", 15, &me, error, sizeof error);
  if (strcmp(hpcboot_error_name(code), "missing_variable") != 0) return 1;
  return strstr(error, "SLURM_PROCID") == NULL;
}
