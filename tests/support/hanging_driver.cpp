// In place of libcuda.so.1: hangs, as the drivers of broken GPUs do.
#include <unistd.h>

extern "C" int cuInit(unsigned /*flags*/) {
  while (true) pause();
}
