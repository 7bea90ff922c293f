// HDF5 1.10 leaks a few buffers when a chunk's checksum is wrong; LeakSanitizer takes them for the
// test's. Its library looks for this function by name; without it, nobody calls it.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}
