# Every dependency is detected here and listed by hpcboot_print_summary(). A missing optional dependency
# disables its feature; the summary names the package or module that enables it.
include(FetchContent)
set(FETCHCONTENT_QUIET ON)
option(HPCBOOT_FETCH "Fetch small header libraries that are not installed (needs the internet)" ON)
set_property(GLOBAL PROPERTY HPCBOOT_SUMMARY "")

function(hpcboot_note_dependency name found used_for remedy)
  if(found)
    set(line "  [found]   ${name}: ${used_for}")
  else()
    set(line "  [missing] ${name}: disables ${used_for}. ${remedy}")
  endif()
  set_property(GLOBAL APPEND PROPERTY HPCBOOT_SUMMARY "${line}")
endfunction()

function(hpcboot_print_summary)
  get_property(lines GLOBAL PROPERTY HPCBOOT_SUMMARY)
  message(STATUS "")
  message(STATUS "hpcboot ${PROJECT_VERSION} (${CMAKE_BUILD_TYPE}), CXX ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  foreach(line IN LISTS lines)
    message(STATUS "${line}")
  endforeach()
  message(STATUS "")
endfunction()

# A header library: the installed one, else a pinned commit, else none.
macro(hpcboot_find_or_fetch package target url commit)
  find_package(${package} QUIET)
  if(NOT TARGET ${target} AND HPCBOOT_FETCH)
    string(TOLOWER ${package} _hpcboot_fetch_name)
    # Checked before fetching: without a network FetchContent would stop the whole configuration.
    execute_process(COMMAND git ls-remote --exit-code ${url} HEAD
                    RESULT_VARIABLE _hpcboot_unreachable OUTPUT_QUIET ERROR_QUIET TIMEOUT 20)
    if(_hpcboot_unreachable STREQUAL "0")
      FetchContent_Declare(${_hpcboot_fetch_name} GIT_REPOSITORY ${url} GIT_TAG ${commit})
      FetchContent_MakeAvailable(${_hpcboot_fetch_name})
    endif()
  endif()
endmacro()

# --- bootstrap: the core has no dependencies; these are for the tool and the exchange -------------
find_package(Threads REQUIRED)
find_package(PMIx QUIET)
hpcboot_note_dependency("PMIx ${PMIx_VERSION}" "${PMIx_FOUND}" "exchange under mpirun and srun --mpi=pmix"
  "Install libpmix-dev, load your site's pmix module, or set PMIX_ROOT.")
find_package(PMI2 QUIET)
hpcboot_note_dependency("PMI2 of Slurm" "${PMI2_FOUND}" "exchange under srun --mpi=pmi2" "Install libpmi2-0-dev, or set PMI2_ROOT.")
find_package(MPI QUIET COMPONENTS C)
hpcboot_note_dependency("MPI ${MPI_C_VERSION}" "${MPI_C_FOUND}" "component hpcboot::mpi, hello_mpi"
  "Install libopenmpi-dev, load your site's MPI module, or set MPI_HOME.")
find_package(OpenSSL 1.1 QUIET COMPONENTS Crypto)
hpcboot_note_dependency("OpenSSL ${OPENSSL_VERSION}" "${OPENSSL_FOUND}" "authentication of ranks in hpcboot and the trainer"
  "Install libssl-dev, load your site's openssl module, or set OPENSSL_ROOT_DIR.")
find_package(MUNGE QUIET)
hpcboot_note_dependency("MUNGE" "${MUNGE_FOUND}" "authentication of ranks on several hosts by the cluster's MUNGE"
  "Install libmunge-dev, or set MUNGE_ROOT.")
find_package(Boost 1.66 QUIET COMPONENTS program_options)
hpcboot_note_dependency("Boost.Program_options ${Boost_VERSION_STRING}" "${Boost_PROGRAM_OPTIONS_FOUND}"
  "command line of the programs"
  "Install libboost-program-options-dev, load your site's boost module, or set BOOST_ROOT.")
if(HPCBOOT_BUILD_TOOL OR HPCBOOT_WITH_TORCH OR HPCBOOT_BUILD_FUZZERS)
  hpcboot_find_or_fetch(nlohmann_json nlohmann_json::nlohmann_json
    https://github.com/nlohmann/json.git bc889afb4c5bf1c0d8ee29ef35eaaf4c8bef8a5d)  # 3.11.2
  hpcboot_find_or_fetch(fmt fmt::fmt
    https://github.com/fmtlib/fmt.git a33701196adfad74917046096bf5a2aa0ab0bb50)     # 9.1.0
  hpcboot_find_or_fetch(spdlog spdlog::spdlog
    https://github.com/gabime/spdlog.git 76fb40d95455f249bd70824ecfcae7a8f0930fa3)  # 1.10.0
endif()
# TOML: launchers described in files, and site profiles for job scripts from mustache templates.
hpcboot_find_or_fetch(tomlplusplus tomlplusplus::tomlplusplus
  https://github.com/marzer/tomlplusplus.git 30172438cee64926dc41fdd9c11fb3ba5b2ba9de)  # 3.4.0
if(HPCBOOT_BUILD_TOOL)
  hpcboot_find_or_fetch(mstch mstch::mstch
    https://github.com/no1msd/mstch.git ff459067bd02e80dc399006bb610238223d41c50)         # 1.0.2
  if(TARGET mstch AND NOT TARGET mstch::mstch)
    # A fetched mstch sets no include directory, and has no target mstch::mstch as an installed one has.
    target_include_directories(mstch INTERFACE ${mstch_SOURCE_DIR}/include)
    add_library(mstch::mstch ALIAS mstch)
  endif()
endif()
foreach(pair IN ITEMS "nlohmann_json;nlohmann-json3-dev;JSON output, run records" "fmt;libfmt-dev;text formatting"
                      "spdlog;libspdlog-dev;per-rank logs of the trainer"
                      "tomlplusplus;libtomlplusplus-dev;launchers described in files, hpcboot script (job scripts)"
                      "mstch;libmstch-dev;hpcboot script (job scripts)")
  list(GET pair 0 _package)
  list(GET pair 1 _debian)
  list(GET pair 2 _use)
  set(_found OFF)
  if(TARGET ${_package}::${_package})
    set(_found ON)
  endif()
  hpcboot_note_dependency("${_package}" "${_found}" "${_use}" "Install ${_debian}, or configure with access to the internet.")
endforeach()

# --- trainer -----------------------------------------------------------------------------------
find_package(ZLIB QUIET)
hpcboot_note_dependency("zlib ${ZLIB_VERSION_STRING}" "${ZLIB_FOUND}" "data sets (.gz)" "Install zlib1g-dev or load your site's zlib module.")
# With COMPONENTS: only the C++ library matters, whatever else of HDF5 a machine has.
set(HPCBOOT_HAVE_HDF5 OFF)
find_package(HDF5 QUIET COMPONENTS CXX)
if(HDF5_FOUND)
  set(HPCBOOT_HAVE_HDF5 ON)
  add_library(hpcboot_hdf5 INTERFACE)
  target_include_directories(hpcboot_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
  target_link_libraries(hpcboot_hdf5 INTERFACE ${HDF5_CXX_LIBRARIES})
endif()
hpcboot_note_dependency("HDF5 ${HDF5_VERSION}" "${HPCBOOT_HAVE_HDF5}" "data sets in HDF5 files"
  "Install libhdf5-dev, load your site's hdf5 module, or set HDF5_ROOT; it must include the C++ library.")
# Both are headers only.
find_path(HPCBOOT_PROTOZERO_INCLUDE_DIR protozero/pbf_writer.hpp)
find_path(HPCBOOT_BOOST_CRC_INCLUDE_DIR boost/crc.hpp HINTS ${Boost_INCLUDE_DIRS})
mark_as_advanced(HPCBOOT_PROTOZERO_INCLUDE_DIR HPCBOOT_BOOST_CRC_INCLUDE_DIR)
set(HPCBOOT_HAVE_TENSORBOARD OFF)
if(HPCBOOT_PROTOZERO_INCLUDE_DIR AND HPCBOOT_BOOST_CRC_INCLUDE_DIR)
  set(HPCBOOT_HAVE_TENSORBOARD ON)
endif()
hpcboot_note_dependency("protozero and Boost.CRC" "${HPCBOOT_HAVE_TENSORBOARD}" "event files for TensorBoard"
  "Install libprotozero-dev and libboost-dev, or set HPCBOOT_PROTOZERO_INCLUDE_DIR (headers only).")
set(HPCBOOT_HAVE_TORCH OFF)
set(_torch_flavour "")
set(_torch_remedy "Install libtorch-dev, run setup/get-libtorch, load your site's libtorch or pytorch module, or set CMAKE_PREFIX_PATH to an unpacked libtorch.")
if(HPCBOOT_WITH_TORCH)
  find_package(Torch QUIET CONFIG)
  if(NOT Torch_FOUND)
    set(Torch_VERSION "")
  elseif(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
    set(_torch_remedy "This one has the old C++ ABI, unlike all other libraries here; use another, for example from setup/get-libtorch.")
  elseif(Torch_VERSION VERSION_LESS 1.13 OR (Torch_VERSION VERSION_GREATER_EQUAL 2 AND Torch_VERSION VERSION_LESS 2.7))
    set(_torch_remedy "It must be 1.13, or 2.7 or newer; setup/get-libtorch downloads one.")
  elseif(NOT OpenSSL_FOUND)
    set(_torch_remedy "LibTorch was found, but OpenSSL is missing, which the ranks need to authenticate each other.")
  elseif(NOT TARGET nlohmann_json::nlohmann_json OR NOT TARGET fmt::fmt OR NOT ZLIB_FOUND)
    set(_torch_remedy "LibTorch was found, but nlohmann_json, fmt or zlib is missing, which checkpoints need.")
  else()
    set(HPCBOOT_HAVE_TORCH ON)
    include(HpcbootLibtorch)
    get_target_property(_features hpcboot::libtorch INTERFACE_COMPILE_FEATURES)
    if(_features AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
      # False alarms in C++20's std::string: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
      target_compile_options(hpcboot_warnings INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
    endif()
  endif()
  if(TARGET torch_cuda)
    set(_torch_flavour " for CUDA ${CUDA_VERSION}")
  endif()
endif()
hpcboot_note_dependency("LibTorch ${Torch_VERSION}${_torch_flavour}" "${HPCBOOT_HAVE_TORCH}" "trainer and hpcboot::torch" "${_torch_remedy}")
# hpcboot_prefer_installed_fmt(target): for targets that use LibTorch and fmt. LibTorch 2.x ships headers of its own
# fmt, which would be found before those in /usr/include that belong to fmt::fmt and spdlog.
function(hpcboot_prefer_installed_fmt target)
  if(NOT EXISTS ${TORCH_INSTALL_PREFIX}/include/fmt)
    return()
  endif()
  get_target_property(folder fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  if(IS_DIRECTORY "${folder}/fmt")
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/installed_fmt)
    file(CREATE_LINK ${folder}/fmt ${PROJECT_BINARY_DIR}/installed_fmt/fmt SYMBOLIC)
    target_include_directories(${target} SYSTEM BEFORE PRIVATE ${PROJECT_BINARY_DIR}/installed_fmt)
  endif()
endfunction()

set(HPCBOOT_HAVE_NCCL OFF)
set(HPCBOOT_HAVE_CUDA_GRAPHS OFF)
if(HPCBOOT_HAVE_TORCH AND TARGET torch_cuda AND Torch_VERSION VERSION_GREATER_EQUAL 2)
  set(HPCBOOT_HAVE_CUDA_GRAPHS ON)
  find_path(HPCBOOT_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDA_TOOLKIT_ROOT_DIR}/include $ENV{NCCL_HOME}/include $ENV{NCCL_ROOT}/include
            ${TORCH_INSTALL_PREFIX}/../nvidia/nccl/include)
  mark_as_advanced(HPCBOOT_NCCL_INCLUDE_DIR)
  if(HPCBOOT_NCCL_INCLUDE_DIR)
    set(HPCBOOT_HAVE_NCCL ON)
  endif()
  hpcboot_note_dependency("nccl.h" "${HPCBOOT_HAVE_NCCL}" "collectives between GPUs (--backend nccl)"
    "Install libnccl-dev, load your site's nccl module, or set NCCL_HOME.")
endif()
if(HPCBOOT_BUILD_TESTS)
  find_program(MPIEXEC_EXECUTABLE NAMES mpirun mpiexec)
  hpcboot_note_dependency("mpirun" "${MPIEXEC_EXECUTABLE}" "tests on 1, 2 and 4 ranks" "Install openmpi-bin or load your site's openmpi module.")
  find_package(GTest QUIET)
  hpcboot_note_dependency("GoogleTest ${GTest_VERSION}" "${GTest_FOUND}" "tests" "Install libgtest-dev and libgmock-dev, or set HPCBOOT_BUILD_TESTS=OFF.")
endif()
if(HPCBOOT_BUILD_BENCH)
  find_package(benchmark QUIET)
  hpcboot_note_dependency("Google Benchmark ${benchmark_VERSION}" "${benchmark_FOUND}" "bench/" "Install libbenchmark-dev.")
endif()
# A project that has hpcboot in its tree links with hpcboot's libraries from folders in which these targets would not
# exist otherwise.
get_property(_hpcboot_imported DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(_target IN LISTS _hpcboot_imported)
  set_target_properties(${_target} PROPERTIES IMPORTED_GLOBAL ON)
endforeach()
