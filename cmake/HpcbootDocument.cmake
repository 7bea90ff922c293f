# hpcboot_document(PROGRAM ASK_COMPLETION ASK_MANUAL): after its build the program writes its completion for shells and its
# manual page into build/share, from which HpcbootInstall.cmake installs them. A cross-compiled one cannot run here.
function(hpcboot_document program ask_completion ask_manual)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(share ${PROJECT_BINARY_DIR}/share)
  file(MAKE_DIRECTORY ${share})
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${program} ${ask_completion} bash >${share}/${program}.bash
    COMMAND ${program} ${ask_completion} zsh >${share}/_${program}
    COMMAND ${program} ${ask_completion} fish >${share}/${program}.fish
    COMMAND ${program} ${ask_manual} >${share}/${program}.1)
  set_target_properties(${program} PROPERTIES HPCBOOT_SHARE ${share})
endfunction()
