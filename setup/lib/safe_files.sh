# Files in ~/.ssh are changed in one step, by renaming a complete new file that was written beside them: a full disk
# or kill -9 leaves the old file or the new one, never a part. For any POSIX shell: it is sourced here, and also sent to
# other hosts at the head of the scripts that write there. POSIX has no local variables, so the names here are used
# nowhere else.
# shellcheck shell=sh
# shellcheck disable=SC3067 # -O is known to dash, busybox, bash and ksh

# Temporary files of a run are named KIND.HOST.NAMESPACE.PID, so that a later run can tell whether they are in use:
# .hpcboot-new, a new file, and .hpcboot-nonce, which other hosts look for.
own_host=$(hostname 2>/dev/null || uname -n 2>/dev/null || true)
own_namespace=$(stat -L -c %i /proc/self/ns/pid 2>/dev/null || echo 0) # containers may share a home and a host name
own_mark=$own_host.$own_namespace.$$
problem=  # why one of these functions failed: the system's message
new_file= # the file being written

# owner_of FILE: the name of the user, or else the number.
owner_of() { stat -L -c '%U %u' -- "$1" | awk '{ print ($1 == "UNKNOWN" ? $2 : $1) }'; }

# place_of FILE: sets $dest_file, the target of FILE's links, and $new_file beside it. Only files of this user are
# changed: a link may lead to any other.
place_of() {
  dest_file=$1
  if [ -L "$1" ]; then dest_file=$(readlink -f -- "$1") || dest_file=; fi
  if [ -z "$dest_file" ]; then
    problem="it is a broken symbolic link"
    return 1
  fi
  if [ -e "$dest_file" ] && [ ! -O "$dest_file" ]; then
    problem="$dest_file belongs to $(owner_of "$dest_file")"
    return 1
  fi
  new_file=$(dirname -- "$dest_file")/.hpcboot-new.$own_mark
}

# state_of_dest: changes if another process writes to it.
state_of_dest() { stat -L -c '%i %s %y' -- "$dest_file" 2>/dev/null; }

# in_one_step COMMAND…: runs COMMAND, which writes $new_file, and renames that to $dest_file. On failure, $problem has
# the reason, $dest_file is unchanged, and $new_file is removed.
in_one_step() {
  dest_was=$(state_of_dest) || dest_was=
  rm -f -- "$new_file"
  if problem=$( (umask 077 && "$@" && put_in_place) 2>&1); then
    problem=
    return 0
  fi
  rm -f -- "$new_file"
  last_words
  return 1
}

# "cat: write error: No space left on device" without the name of the program.
last_words() {
  problem=$(printf '%s\n' "$problem" | sed -n '${s/^.*: //;p;}')
  problem=${problem:-unknown error}
}

put_in_place() {
  if [ -e "$dest_file" ]; then chmod "$(stat -L -c %a -- "$dest_file")" "$new_file" || return 1; fi
  flush "$new_file" || return 1
  if [ "$(state_of_dest)" != "$dest_was" ]; then
    echo "put_in_place: another process is changing it" >&2
    return 1
  fi
  mv -f -- "$new_file" "$dest_file"
}

# flush FILE: to disk; NFS may report a full disk only now. An old sync that takes no file is not a failure.
flush() {
  flush_words=$(sync "$1" 2>&1) && return 0
  case $flush_words in
    *"No space"* | *[Qq]uota* | *"rror"*) printf '%s\n' "$flush_words" >&2 && return 1 ;;
  esac
}

copy_dest() {
  if [ -e "$dest_file" ]; then cat -- "$dest_file" >"$new_file"; else : >"$new_file"; fi
}

# add_lines FILE LINE…: at its end, also if its last line has no newline.
add_lines() {
  place_of "$1" || return 1
  shift
  in_one_step append_to_copy "$@"
}

append_to_copy() {
  copy_dest || return 1
  if [ -s "$new_file" ] && [ -n "$(tail -c 1 -- "$new_file")" ]; then echo | cat >>"$new_file" || return 1; fi
  printf '%s\n' "$@" | cat >>"$new_file" # cat: not every shell's printf reports a full disk
}

# has_text FILE TEXT: true if a line that is no comment contains TEXT.
has_text() { sought=$2 awk '!/^[ \t]*#/ && index($0, ENVIRON["sought"]) { found = 1; exit } END { exit !found }' "$1" 2>/dev/null; }

# begin_with FILE LINE: LINE becomes its first line.
begin_with() { place_of "$1" && in_one_step copy_after "$2"; }

copy_after() {
  printf '%s\n' "$1" | cat >"$new_file" || return 1
  if [ -e "$dest_file" ]; then cat -- "$dest_file" >>"$new_file"; fi
}

# write_file FILE TEXT
write_file() { place_of "$1" && in_one_step write_new "$2"; }

write_new() { printf '%s\n' "$1" | cat >"$new_file"; }

# make_file FILE TEXT: creates FILE and its folder. An existing FILE is kept, and is a failure.
make_file() {
  dest_file=$1
  new_file=$(dirname -- "$1")/.hpcboot-new.$own_mark
  if problem=$( (umask 077 && write_and_link "$2") 2>&1); then
    problem=
    return 0
  fi
  rm -f -- "$new_file"
  last_words
  return 1
}

write_and_link() {
  mkdir -p -- "$(dirname -- "$dest_file")" && rm -f -- "$new_file" && write_new "$1" && flush "$new_file" &&
    ln -- "$new_file" "$dest_file" && rm -f -- "$new_file"
}

# make_key KEY OPTION…: creates KEY, which must not exist, with ssh-keygen and these options.
make_key() {
  dest_file=$1
  shift
  new_file=$(dirname -- "$dest_file")/.hpcboot-new.$own_mark
  rm -f -- "$new_file" "$new_file.pub"
  key_made=true
  # Only its errors are captured: it may ask for a passphrase.
  { problem=$(make_pair "$@" 2>&1 >&3 3>&-) || key_made=false; } 3>&1
  if [ "$key_made" = true ]; then return 0; fi
  rm -f -- "$new_file" "$new_file.pub"
  last_words
  return 1
}

# The private half is moved first: it is usable without the public file, but not the reverse.
make_pair() {
  ssh-keygen -q -t ed25519 "$@" -f "$new_file" && chmod 600 "$new_file" && flush "$new_file" && flush "$new_file.pub" &&
    move_new "$new_file" "$dest_file" || return 1
  if ! move_new "$new_file.pub" "$dest_file.pub"; then
    rm -f -- "$dest_file"
    return 1
  fi
}

# move_new FROM TO: TO is never replaced.
move_new() {
  mv -n -- "$1" "$2" || return 1
  if [ -e "$1" ]; then
    echo "mv: $2 exists" >&2
    return 1
  fi
}

# is_left HOST.NAMESPACE.PID: true for the mark of a run on this machine that has ended.
is_left() {
  left_pid=${1##*.}
  if [ -z "$own_host" ] || [ "${1%.*}" != "$own_host.$own_namespace" ]; then return 1; fi
  case $left_pid in '' | *[!0-9]*) return 1 ;; esac
  ! kill -0 "$left_pid" 2>/dev/null && [ ! -e "/proc/$left_pid" ]
}

# is_left_elsewhere HOST.NAMESPACE.PID FILE: the same for a run on another machine, judged by the age of FILE. Such a
# file exists for less than a second, so one day is enough.
is_left_elsewhere() {
  left_rest=${1%.*}
  case ${1##*.}:${left_rest##*.} in :* | *: | *[!0-9:]*) return 1 ;; esac
  if [ "${left_rest%.*}" = "$left_rest" ] || [ "$left_rest" = "$own_host.$own_namespace" ]; then return 1; fi
  [ -n "$(find "$2" -prune -mtime +0)" ]
}

# each_left FOLDER COMMAND…: runs COMMAND… FILE for each file that a killed run left in FOLDER.
each_left() {
  left_folder=$1
  shift
  for left in "$left_folder"/.hpcboot-new.* "$left_folder"/.hpcboot-nonce.*; do
    if [ ! -f "$left" ] || [ -L "$left" ] || [ ! -O "$left" ]; then continue; fi
    left_mark=${left##*/.hpcboot-}
    left_mark=${left_mark#*.}
    left_mark=${left_mark%.pub}
    if is_left "$left_mark" || is_left_elsewhere "$left_mark" "$left"; then "$@" "$left"; fi
  done
}

# remove_left FILE: but the public half of a key that is already in place is moved there.
remove_left() {
  left_key=$(dirname -- "$1")/id_ed25519
  case $1 in
    *.pub)
      if [ -f "$left_key" ] && [ ! -e "$left_key.pub" ] && [ -n "$(print_of "$1")" ] &&
        [ "$(print_of "$1")" = "$(print_of "$left_key")" ]; then mv -n -- "$1" "$left_key.pub"; fi
      ;;
  esac
  rm -f -- "$1"
}

print_of() { ssh-keygen -l -f "$1" 2>/dev/null </dev/null | awk '{ print $2 }'; }
