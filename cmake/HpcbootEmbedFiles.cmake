# hpcboot_embed_files(SOURCE FUNCTION FOLDER SUFFIX): writes a C++ source whose function
# hpcboot::jobscripts::FUNCTION() returns the texts of FOLDER/*SUFFIX by name without SUFFIX, as declared
# in bootstrap/jobs/shipped_files.hpp. Configures again if a file is changed, added or removed.
function(hpcboot_embed_files source function folder suffix)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*${suffix})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(entries "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    string(REPLACE "${suffix}" "" name ${name})
    file(READ ${file} text)
    string(APPEND entries "      {\"${name}\", R\"=====(${text})=====\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
#include "jobs/shipped_files.hpp"

namespace hpcboot::jobscripts {

const ShippedFiles& @function@() {
  static const ShippedFiles kFiles = {
@entries@  };
  return kFiles;
}

}  // namespace hpcboot::jobscripts
]=])
endfunction()
