# Tests of the data sets.
if(NOT TARGET hpcboot_datasets)
  return()
endif()

hpcboot_add_test(NAME datasets_test
  SOURCES unit/batch_loader_test.cpp unit/cifar_pickle_test.cpp unit/digits_test.cpp unit/idx_test.cpp
          unit/idx_damage_test.cpp unit/image_samples_test.cpp unit/pictures_test.cpp unit/safetensors_data_test.cpp
  LIBRARIES hpcboot_datasets ZLIB::ZLIB LABELS unit TIMEOUT 120)
if(HPCBOOT_HAVE_HDF5)
  target_sources(datasets_test PRIVATE unit/hdf5_data_test.cpp unit/hdf5_links_test.cpp unit/in_child_test.cpp
                 support/hdf5_leaks.cpp)
  target_link_libraries(datasets_test PRIVATE hpcboot_hdf5)
endif()

# The formats that --data reads. With LibTorch in the build these include .pt, and the test links LibTorch.
set(_formats SOURCES unit/cifar_test.cpp unit/convert_test.cpp unit/formats_test.cpp unit/sequences_test.cpp
             LIBRARIES hpcboot_formats)
if(HPCBOOT_HAVE_TORCH)
  list(APPEND _formats hpcboot::libtorch SOURCES unit/pt_data_test.cpp)
endif()
hpcboot_add_test(NAME formats_test ${_formats} LABELS unit TIMEOUT 120)
