# The key with which ranks prove that they belong to one launch, as bootstrap/rendezvous reads it. For any POSIX shell,
# like safe_files.sh.
# shellcheck shell=sh

# key_fault FILE: why no rank will use it: link, kind, owner or mode. Prints nothing if they will.
key_fault() {
  if [ -L "$1" ]; then
    echo link
  elif [ ! -f "$1" ]; then
    echo kind
  elif [ ! -O "$1" ]; then
    echo owner
  else
    case $(stat -L -c %a -- "$1") in *00 | 0) ;; *) echo mode ;; esac
  fi
}
