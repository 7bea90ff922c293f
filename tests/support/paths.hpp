/// Where the tests find files. Only one source file, which CMake generates, contains these folders:
/// as definitions on the command line they would keep a compiler cache from helping a checkout in
/// another folder.
#pragma once

#include <string>
#include <string_view>

namespace hpcboot::test {

/// The root of the sources, and the build folder. Not std::string, whose ABI depends on the
/// LibTorch that a test uses.
extern const char* const source_folder;
extern const char* const build_folder;

/// The Python with which results are compared: the CMake variable HPCBOOT_TEST_PYTHON.
extern const char* const python;

/// A file of the sources, such as source_file("tests/golden/env").
inline std::string source_file(std::string_view path) {
  return std::string(source_folder).append("/").append(path);
}

/// The captured environments: a folder for each job.
inline std::string golden_environments() {
  return source_file("tests/golden/env");
}

/// A file of the build, such as built_file("bin/runtable").
inline std::string built_file(std::string_view path) {
  return std::string(build_folder).append("/").append(path);
}

}  // namespace hpcboot::test
