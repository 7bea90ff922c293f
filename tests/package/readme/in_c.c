/* README.md's lines of C. */
#include <hpcboot/hpcboot.h>
#include <stdio.h>

int in_c(void) {
  hpcboot_resolution me = {sizeof me};
  char error[HPCBOOT_ERROR_SIZE];
  int code = hpcboot_resolve(&me, error, sizeof error);
  if (code != 0) return fputs(error, stderr), code;
  printf("rank %d of %d by %s, device %d\n", me.rank, me.world_size, me.launcher, me.device);
  return 0;
}
