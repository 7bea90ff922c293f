if(HPCBOOT_SANITIZE)
  string(REPLACE ";" "," _hpcboot_sanitize "${HPCBOOT_SANITIZE}")
  # Every object of the tree has to agree, so these are directory-wide and not a target's.
  add_compile_options(-fsanitize=${_hpcboot_sanitize} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${_hpcboot_sanitize})
endif()
