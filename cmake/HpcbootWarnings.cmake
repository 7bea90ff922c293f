# Warnings are in an interface target that our own targets link privately and that is never
# exported: consumers compile with their own flags.
add_library(hpcboot_warnings INTERFACE)
target_compile_options(hpcboot_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wold-style-cast -Wcast-align -Wformat=2 -Wswitch-enum
  $<$<BOOL:${HPCBOOT_WARNINGS_AS_ERRORS}>:-Werror>)
