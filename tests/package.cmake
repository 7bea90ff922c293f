# Tests that other projects can use the library: each configures, builds and runs a consumer.

# hpcboot_add_package_test(name consumer options...)
function(hpcboot_add_package_test name consumer)
  add_test(NAME package.${name} COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/package/${consumer} ${PROJECT_BINARY_DIR}/package/${name}
    --build-generator ${CMAKE_GENERATOR} --build-makeprogram ${CMAKE_MAKE_PROGRAM}
    --build-options -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} ${ARGN}
    --test-command consumer)
  set_tests_properties(package.${name} PROPERTIES LABELS package TIMEOUT 600 COST 10)  # compiles for a while
endfunction()

# hpcboot_add_install_test(component), one at a time, as components share headers: installs it into the prefix that the package tests share.
function(hpcboot_add_install_test component)
  add_test(NAME package.install_${component} COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR}
           --prefix ${PROJECT_BINARY_DIR}/package/prefix --component ${component})
  set_tests_properties(package.install_${component} PROPERTIES
    LABELS package TIMEOUT 60 FIXTURES_SETUP package_${component} RESOURCE_LOCK package_prefix)
endfunction()

set(_prefix ${PROJECT_BINARY_DIR}/package/prefix)
hpcboot_add_install_test(core)
hpcboot_add_package_test(find_package find_package -Dhpcboot_ROOT=${_prefix})
set_tests_properties(package.find_package PROPERTIES FIXTURES_REQUIRED package_core)
hpcboot_add_package_test(build_tree find_package -Dhpcboot_ROOT=${PROJECT_BINARY_DIR})
hpcboot_add_package_test(add_subdirectory add_subdirectory -DHPCBOOT_SOURCE_DIR=${PROJECT_SOURCE_DIR}
                         -DCMAKE_BUILD_TYPE=Debug)
hpcboot_add_package_test(c c -Dhpcboot_ROOT=${_prefix})
hpcboot_add_package_test(readme readme -Dhpcboot_ROOT=${_prefix})
add_test(NAME package.pkg_config COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/package/pkg_config/build.sh
         ${_prefix} ${PROJECT_BINARY_DIR}/package/pkg_config ${CMAKE_C_COMPILER})
set_tests_properties(package.pkg_config PROPERTIES LABELS package TIMEOUT 60 SKIP_RETURN_CODE 77)
set_tests_properties(package.c package.pkg_config package.readme PROPERTIES FIXTURES_REQUIRED package_core)
find_program(HPCBOOT_FORTRAN_COMPILER NAMES gfortran)
mark_as_advanced(HPCBOOT_FORTRAN_COMPILER)
if(HPCBOOT_FORTRAN_COMPILER)
  hpcboot_add_package_test(fortran fortran -Dhpcboot_ROOT=${_prefix}
                           -DCMAKE_Fortran_COMPILER=${HPCBOOT_FORTRAN_COMPILER})
  set_tests_properties(package.fortran PROPERTIES FIXTURES_REQUIRED package_core)
else()
  add_test(NAME package.fortran COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no gfortran was found at configure time")
  set_tests_properties(package.fortran PROPERTIES LABELS package SKIP_REGULAR_EXPRESSION "SKIPPED")
endif()
add_test(NAME package.unknown_component COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_SOURCE_DIR}/package/unknown_component
         -B ${PROJECT_BINARY_DIR}/package/unknown_component -G ${CMAKE_GENERATOR} -Dhpcboot_ROOT=${_prefix}
         -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
# CMake wraps the lines of its messages.
set_tests_properties(package.unknown_component PROPERTIES LABELS package TIMEOUT 60 FIXTURES_REQUIRED package_core
  PASS_REGULAR_EXPRESSION "has[ \n]+no[ \n]+component[ \n]+'teleport'")
foreach(language IN ITEMS C Fortran)
  if(language STREQUAL "Fortran" AND NOT HPCBOOT_FORTRAN_COMPILER)
    continue()
  endif()
  set(_name package.without_cxx_${language})
  add_test(NAME ${_name} COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_SOURCE_DIR}/package/without_cxx
           -B ${PROJECT_BINARY_DIR}/package/without_cxx_${language} -G ${CMAKE_GENERATOR} -Dhpcboot_ROOT=${_prefix}
           -DLANGUAGES=${language} -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
           -DCMAKE_Fortran_COMPILER=${HPCBOOT_FORTRAN_COMPILER})
  set_tests_properties(${_name} PROPERTIES LABELS package TIMEOUT 60 FIXTURES_REQUIRED package_core
    PASS_REGULAR_EXPRESSION "language[ \n]+CXX[ \n]+is[ \n]+not[ \n]+enabled")
endforeach()
if(TARGET hpcboot_toml)
  hpcboot_add_install_test(launchers)
  hpcboot_add_package_test(find_package_launchers find_package_launchers -Dhpcboot_ROOT=${_prefix})
  set_tests_properties(package.find_package_launchers PROPERTIES FIXTURES_REQUIRED "package_core;package_launchers")
  hpcboot_add_package_test(build_tree_launchers find_package_launchers -Dhpcboot_ROOT=${PROJECT_BINARY_DIR})
endif()
set(_open_mpi_as_root "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
if(TARGET hpcboot_mpi)
  hpcboot_add_install_test(mpi)
  hpcboot_add_package_test(find_package_mpi find_package_mpi -Dhpcboot_ROOT=${_prefix})
  set_tests_properties(package.find_package_mpi PROPERTIES FIXTURES_REQUIRED "package_core;package_mpi"
                       ENVIRONMENT "${_open_mpi_as_root}")
endif()
if(TARGET hpcboot_mpi AND TARGET hpcboot_torch)
  hpcboot_add_package_test(find_package_mpi_torch find_package_mpi_torch -Dhpcboot_ROOT=${_prefix}
                           -DCMAKE_PREFIX_PATH=${TORCH_INSTALL_PREFIX})
  set_tests_properties(package.find_package_mpi_torch PROPERTIES
    FIXTURES_REQUIRED "package_core;package_mpi;package_torch" ENVIRONMENT "${_open_mpi_as_root}")
endif()
if(TARGET hpcboot_torch)
  hpcboot_add_install_test(torch)
  if(TARGET trainer)
    add_test(NAME package.bundle COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/package/bundle/check.sh ${PROJECT_BINARY_DIR} ${TORCH_INSTALL_PREFIX})
    set_tests_properties(package.bundle PROPERTIES LABELS "package;torch" TIMEOUT 120 SKIP_RETURN_CODE 77)
  endif()
  hpcboot_add_package_test(find_package_torch find_package_torch -Dhpcboot_ROOT=${_prefix}
                           -DCMAKE_PREFIX_PATH=${TORCH_INSTALL_PREFIX})
  hpcboot_add_package_test(own_model own_model -Dhpcboot_ROOT=${_prefix}
                           -DCMAKE_PREFIX_PATH=${TORCH_INSTALL_PREFIX})
  set_tests_properties(package.find_package_torch package.own_model PROPERTIES
    FIXTURES_REQUIRED "package_core;package_torch" LABELS "package;torch")
  set_tests_properties(package.own_model PROPERTIES FIXTURES_SETUP package_own_model)
  # Only as far as CMake finds everything: the library itself takes minutes to build.
  add_test(NAME package.add_subdirectory_torch COMMAND ${CMAKE_COMMAND}
           -S ${CMAKE_CURRENT_SOURCE_DIR}/package/add_subdirectory_torch -B ${PROJECT_BINARY_DIR}/package/add_subdirectory_torch
           -G ${CMAKE_GENERATOR} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DHPCBOOT_SOURCE_DIR=${PROJECT_SOURCE_DIR}
           -DCMAKE_PREFIX_PATH=${TORCH_INSTALL_PREFIX})
  set_tests_properties(package.add_subdirectory_torch PROPERTIES LABELS "package;torch" TIMEOUT 120)
  # The same program on the ranks of a launch.
  hpcboot_add_mpi_test(NAME package.own_model.ranks_2 RANKS 2 TIMEOUT 60 LABELS package torch
                       COMMAND ${PROJECT_BINARY_DIR}/package/own_model/consumer)
  hpcboot_add_mpi_test(NAME package.two_groups.ranks_4 RANKS 4 TIMEOUT 60 LABELS package torch
                       COMMAND ${PROJECT_BINARY_DIR}/package/own_model/two_groups)
  hpcboot_add_mpi_test(NAME package.sharded_optimizer.ranks_2 RANKS 2 TIMEOUT 60 LABELS package torch
                       COMMAND ${PROJECT_BINARY_DIR}/package/own_model/sharded_optimizer)
  hpcboot_add_mpi_test(NAME package.fully_shard.ranks_2 RANKS 2 TIMEOUT 60 LABELS package torch
                       COMMAND ${PROJECT_BINARY_DIR}/package/own_model/fully_shard)
  add_test(NAME package.activation_checkpoint COMMAND ${PROJECT_BINARY_DIR}/package/own_model/activation_checkpoint)
  set_tests_properties(package.activation_checkpoint PROPERTIES LABELS "package;torch" TIMEOUT 60)
  # Saved by two ranks, continued by one.
  add_test(NAME package.sharded_checkpoint COMMAND bash -ec [=[
    rm -rf "$1.run"
    mkdir "$1.run"
    cd "$1.run"
    "$0" run -n 2 --launcher local -- "$1"
    "$0" run -n 1 --launcher local -- "$1" step_100
    [ "$(ls)" = $'step_100\nstep_200' ]
    [ -e step_100/model-00002-of-00002.safetensors ]
    [ -e step_200/model-00001-of-00001.safetensors ]
    ]=]
    $<TARGET_FILE:hpcboot> ${PROJECT_BINARY_DIR}/package/own_model/sharded_checkpoint)
  set_tests_properties(package.sharded_checkpoint PROPERTIES LABELS "package;torch" TIMEOUT 120)
  set_tests_properties(package.own_model.ranks_2 package.fully_shard.ranks_2 package.sharded_checkpoint package.activation_checkpoint package.sharded_optimizer.ranks_2 package.two_groups.ranks_4 PROPERTIES
    FIXTURES_REQUIRED package_own_model)
endif()
