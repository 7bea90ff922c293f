# Downloads of get-mnist and get-cifar: each file comes from the first mirror that has it, resumes where an earlier
# download stopped, and gets its name once its sum is right. The script that sources this sets
#   $program   its name                     $folder   the destination
#   $mirrors   the built-in mirrors         $sums     the expected sum of each file: 64 digits of SHA-256, 32 of MD5
#   $timeout   seconds, from its start      $offline  what to do without a network, in the words of a message
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are the sourcing script's

# shellcheck source=setup/lib/messages.sh
. "${BASH_SOURCE[0]%/*}/messages.sh"

force=false
dry_run=false
checksums=
own_mirrors=()
attempts=5 # per mirror, as long as each makes progress

# common_option WORD…: reads the first of these, an option that the scripts share. Sets $used, the number of its words.
common_option() {
  used=1
  case $1 in
    --dir | --mirror | --checksums | --timeout)
      [ -n "${2-}" ] || usage_error "$1 needs a value"
      case $1 in
        --dir) set_folder "$2" ;;
        --mirror) own_mirrors+=("$2") ;;
        --checksums) checksums=$2 ;;
        --timeout) timeout=$2 ;;
      esac
      used=2
      ;;
    --force) force=true ;;
    --dry-run) dry_run=true ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) usage_error "unknown argument '$1'" ;;
  esac
}

# set_folder FOLDER: in a form that other programs do not take for an option.
set_folder() {
  folder=${1%/}
  case $folder in
    '') folder=/ ;;
    -*) folder=./$folder ;;
  esac
}

# use_options FILE…: after all options: --checksums replaces the sums of these files, --mirror the built-in mirrors.
use_options() {
  local sum name
  [[ $timeout =~ ^[1-9][0-9]{0,8}$ ]] || usage_error "--timeout takes seconds, not '$timeout'"
  if [ ${#own_mirrors[@]} -gt 0 ]; then mirrors=("${own_mirrors[@]}"); fi
  if [ -n "$checksums" ]; then
    [ -r "$checksums" ] || usage_error "cannot read --checksums '$checksums'"
    sums=()
    # The files may have been in another folder (mirror/x.gz), and the list have been written on Windows.
    while read -r sum name; do
      name=${name%$'\r'}
      name=${name#\*}
      if [ -n "$name" ]; then sums[${name##*/}]=$sum; fi
    done < <(grep . "$checksums")
    for name in "$@"; do
      [[ ${sums[$name]-} =~ ^[0-9a-f]{64}$ ]] || usage_error "'$checksums' has no SHA-256 sum of $name"
    done
  fi
  need_tools "$@"
}

# need_tools FILE…: fails if this machine cannot download, or cannot compute the sums of these files.
need_tools() {
  local name
  for name in "$@"; do
    case $(sum_kind "$name") in
      SHA-256) need_one_of "a program that computes SHA-256 sums" "install coreutils" sha256sum shasum ;;
      MD5) need_one_of "a program that computes MD5 sums" "install coreutils" md5sum md5 ;;
    esac
  done
  need_one_of "a program that downloads" "install curl, or $offline" curl wget
}

# need_one_of EXPECTED DO PROGRAM PROGRAM
need_one_of() {
  if ! command -v "$3" >/dev/null && ! command -v "$4" >/dev/null; then fail "neither $3 nor $4" "$1" "$2"; fi
}

# sum_kind NAME: of the sum that is expected of a file.
sum_kind() { if [ ${#sums[$1]} -eq 32 ]; then echo MD5; else echo SHA-256; fi; }

sum_of() { # FILE KIND
  if [ "$2" = MD5 ]; then
    if command -v md5sum >/dev/null; then md5sum <"$1" | cut -d ' ' -f 1; else md5 -q <"$1"; fi
  elif command -v sha256sum >/dev/null; then
    sha256sum <"$1" | cut -d ' ' -f 1
  else
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  fi
}

# is_right FILE [NAME]: FILE has the sum of NAME, by default its own name.
is_right() {
  local name=${2-${1##*/}}
  [ -f "$1" ] && [ "$(sum_of "$1" "$(sum_kind "$name")")" = "${sums[$name]}" ]
}

size_of() { if [ -f "$1" ]; then wc -c <"$1"; else echo 0; fi; }

# lock_folder: waits until no other run of this script is at work in $folder, and keeps others out of it. After it, the
# EXIT trap calls unlock_folder, last.
lock_folder() {
  local waits=false
  until take_lock; do
    if [ "$waits" = false ]; then say "another $program is at work in $folder: waiting until it ends$remedy"; fi
    waits=true
    [ "$SECONDS" -lt "$timeout" ] || fail "another $program at work in $folder, still after $timeout seconds" \
      "one at a time" "wait until it ends, then run this again${remedy:-; --timeout allows more time}"
    sleep 1
  done
}

# take_lock: fails if another run has the lock. One of the kernel ends with its process; a file system, or a machine,
# that has none gets a folder instead, which outlives a killed run: $remedy says what to do then.
take_lock() {
  local lock=$folder/.$program.lock descriptor error code=0
  remedy=
  # Other users of the folder lock the same file.
  error=$( (umask 0 && : >>"$lock") 2>&1) || fail_unwritable "${error##*: }"
  exec {descriptor}>>"$lock" || fail_unwritable "$lock cannot be opened"
  flock -n "$descriptor" 2>/dev/null || code=$?
  held=$lock
  # The run that had this file locked may have removed it since it was opened.
  if [ "$code" -eq 0 ] && [ "$lock" -ef "/dev/fd/$descriptor" ]; then return 0; fi
  exec {descriptor}>&-
  if [ "$code" -le 1 ]; then return 1; fi
  rm -f -- "$lock"
  held=$lock.d
  remedy="; if there is none: rmdir $(shell_word "$held")"
  mkdir -- "$held" 2>/dev/null
}

unlock_folder() { rm -rf -- "$held"; }

# write_error: the system's words for why a file in $folder cannot be written, such as a full disk; nothing if it can.
write_error() {
  local probe=$folder/.$program.probe error
  error=$({ head -c 65536 /dev/zero >"$probe"; } 2>&1) || printf '%s' "${error##*: }"
  rm -f -- "$probe"
}

# require_room: ends this script if no more can be written to $folder.
require_room() {
  local error
  error=$(write_error)
  [ -z "$error" ] || fail_unwritable "$error"
}

fail_unwritable() { # REASON
  fail "'$folder' cannot be written: $1" "a folder with room that this user can write to" \
    "make room, or get the permission, and run this again, which resumes; or choose another --dir"
}

# fetch URL PART SECONDS: resumes the download in PART, and sets $words, its messages. Exit code 3 if it cannot be resumed.
fetch() {
  if command -v curl >/dev/null; then
    fetch_with_curl "$@"
  elif [[ $1 == file://* ]]; then
    copy_local "$@"
  else
    fetch_with_wget "$@"
  fi
}

fetch_with_curl() {
  local code=0
  words=$(curl --fail --location --silent --show-error --connect-timeout 20 --max-time "$3" --speed-limit 500 \
    --speed-time 30 --write-out '<%{http_code}>' --continue-at - --output "$2" "$1" 2>&1) || code=$?
  # 33, 36 and HTTP's 416: this server cannot resume a download, or not this one.
  if [ "$code" -eq 33 ] || [ "$code" -eq 36 ] || [[ $words == *'<416>'* ]]; then return 3; fi
  words=${words/<[0-9][0-9][0-9]>/}
  return "$code"
}

fetch_with_wget() {
  local code=0
  words=$(timeout "$3" wget --no-verbose --tries=1 --timeout=30 --continue --output-document "$2" "$1" 2>&1) || code=$?
  # wget keeps a partial file that no server can complete, and leaves an empty file on errors.
  if [ -f "$2" ] && [ ! -s "$2" ]; then rm -f "$2"; fi
  if [ "$code" -ne 0 ]; then return 1; fi
}

# copy_local URL PART SECONDS: wget does not know file://. %XX is a byte of the path; a host is this one.
copy_local() {
  local path=${1#file://}
  path=$(printf '%b' "$(sed 's/\\/\\\\/g; s/%\([0-9A-Fa-f]\{2\}\)/\\x\1/g' <<<"/${path#*/}")")
  words=$(timeout "$3" cp -- "$path" "$2" 2>&1)
}

# last_of TEXT: its last line.
last_of() {
  local text=${1%$'\n'}
  printf '%s' "${text##*$'\n'}"
}

# announce SOURCE LICENCE: to be called before the first download.
announce() {
  say "source: $1"
  say "licence: $2"
  say "hpcboot redistributes none of it; you download it for yourself"
}

# plan FILE: what --dry-run says.
plan() {
  local mirror shown=
  for mirror in "${mirrors[@]}"; do shown+=" $(shown_url "$mirror")"; done
  tell "would download $folder/$1 ($(sum_kind "$1") ${sums[$1]}) from the first of these that has it:$shown"
}

# download FILE: into $folder.
download() {
  local reasons=
  try_mirrors "$1" || fail "no mirror provided $1${reasons}" "the file with $(sum_kind "$1") ${sums[$1]}" \
    "run this again to resume, use another --mirror URL, or $offline"
}

# try_mirrors FILE: adds failures to the caller's $reasons.
try_mirrors() {
  local file=$1 part=$folder/$1.part mirror url shown attempt before left code words
  # An earlier run may have been killed before it could rename a complete file.
  if is_right "$part" "$file"; then
    mv -f -- "$part" "$folder/$file"
    return 0
  fi
  for mirror in "${mirrors[@]}"; do
    url=${mirror%/}/$file
    shown=$(shown_url "$mirror")
    for ((attempt = 1; attempt <= attempts; ++attempt)); do
      left=$((timeout - SECONDS))
      if [ "$left" -le 0 ]; then
        reasons+="; timed out after $timeout seconds"
        return 1
      fi
      before=$(size_of "$part")
      code=0
      say "$file from $shown$([ "$before" -eq 0 ] || echo ", resuming at byte $before")"
      fetch "$url" "$part" "$left" || code=$?
      if [ "$code" -eq 0 ] && is_right "$part" "$file"; then
        mv -f -- "$part" "$folder/$file"
        return 0
      fi
      if [ "$code" -eq 0 ]; then
        reasons+="; $shown: wrong $(sum_kind "$file") sum"
        rm -f -- "$part"
      elif [ "$code" -eq 3 ]; then
        reasons+="; $shown: cannot resume at byte $before"
        rm -f -- "$part"
      else
        require_room
        reasons+="; $shown: $(last_of "${words//"$url"/"$shown"}")"
        if [ "$(size_of "$part")" -gt "$before" ]; then continue; fi
      fi
      # Once more from the first byte, if a partial file could not be completed.
      if [ "$before" -eq 0 ] || [ -f "$part" ]; then break; fi
    done
  done
  return 1
}
