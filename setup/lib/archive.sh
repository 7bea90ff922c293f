# The check of an archive before it is unpacked, of get-cifar and get-libtorch. The script that sources this defines
#   refuse_archive FOUND EXPECTED   which ends it
# shellcheck shell=bash

# require_safe_members PATHS TYPES: files with what tar lists, the latter with the type first in each line. Refuses an
# archive with a path out of its folder, a link or a device, even if the files that are needed are right. A name with
# line breaks fills several lines: a component .. or a type begins or ends in one of them all the same.
require_safe_members() {
  local found
  if found=$(grep -aEm 1 '^/|(^|/)\.\.(/|$)' "$1"); then
    refuse_archive "the path $found" "paths within the archive's own folder"
  fi
  if found=$(grep -avm 1 '^[-d]' "$2"); then
    refuse_archive "a link or a device: $found" "files and folders only"
  fi
}
