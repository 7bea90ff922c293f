if(HPCBOOT_SANITIZE)
  string(REPLACE ";" "," _hpcboot_sanitize "${HPCBOOT_SANITIZE}")
  # Every object of the tree must use the same flags, so they are set for the directory, not for a target.
  add_compile_options(-fsanitize=${_hpcboot_sanitize} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_compile_definitions(HPCBOOT_SANITIZED)  # for tests that a sanitizer's own system calls would upset
  add_link_options(-fsanitize=${_hpcboot_sanitize})
endif()
