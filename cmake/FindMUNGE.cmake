# MUNGE::headers: the header <munge.h> only. The library, libmunge.so.2, is loaded at run time (dlopen),
# never linked, so that one binary works where it is absent.
find_path(MUNGE_INCLUDE_DIR munge.h HINTS ${MUNGE_ROOT}/include $ENV{MUNGE_ROOT}/include)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MUNGE REQUIRED_VARS MUNGE_INCLUDE_DIR)
if(MUNGE_FOUND AND NOT TARGET MUNGE::headers)
  add_library(MUNGE::headers INTERFACE IMPORTED)
  target_include_directories(MUNGE::headers SYSTEM INTERFACE ${MUNGE_INCLUDE_DIR})
endif()
mark_as_advanced(MUNGE_INCLUDE_DIR)
