# PMI2::headers: Slurm's header <slurm/pmi2.h> only. The library, libpmi2.so.0, is loaded at run time
# (dlopen), never linked, so that one binary works where it is absent.
find_path(PMI2_INCLUDE_DIR slurm/pmi2.h HINTS ${PMI2_ROOT}/include $ENV{PMI2_ROOT}/include)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PMI2 REQUIRED_VARS PMI2_INCLUDE_DIR)
if(PMI2_FOUND AND NOT TARGET PMI2::headers)
  add_library(PMI2::headers INTERFACE IMPORTED)
  target_include_directories(PMI2::headers SYSTEM INTERFACE ${PMI2_INCLUDE_DIR})
endif()
mark_as_advanced(PMI2_INCLUDE_DIR)
