// HDF5 1.10 leaks a few buffers when a chunk's checksum is wrong; LeakSanitizer attributes them to
// the test. Its library looks for this function by name; without that library it is never called.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}
