# Untrusted text (host names, file names, values of a hosts file, output of a remote host or of ssh, the
# environment) has one encoder for each sink, and reaches a sink only through it:
#   the terminal                printable, printable_stream
#   a line to paste, a script   shell_word
#   the ssh configuration       ssh_config_word, ssh_config_path
#   ssh's ProxyCommand          proxy_word
#   JSON                        json_string
# All of it is bash, so that an error can be reported when nothing else works.
# shellcheck shell=bash

# printable TEXT: TEXT in one line that cannot control a terminal. A newline is shown as \n, an ESC as \x1b; C1
# controls, characters that are not seen (bidirectional controls, separators, fillers) and bytes that are not UTF-8 are
# escaped likewise. A backslash is kept, so that a command in a message can be pasted.
printable() {
  local LC_ALL=C
  if [[ $1 == *[!\ -~]* ]]; then encode_text terminal "$1"; else printf '%s' "$1"; fi
}

# printable_stream: for the live output of another host: lines stay lines, and a prompt without a newline is shown
# at once.
printable_stream() {
  local LC_ALL=C chunk code=0 line
  while [ "$code" -eq 0 ] || [ "$code" -gt 128 ]; do # more than 128: read timed out
    code=0
    IFS= read -r -t 0.2 -N 4096 chunk || code=$?
    chunk=${chunk//$'\r\n'/$'\n'}
    while [[ $chunk == *$'\n'* ]]; do
      line=${chunk%%$'\n'*}
      chunk=${chunk#*$'\n'}
      printable "$line"
      echo
    done
    printable "$chunk"
  done
}

# json_string TEXT: a JSON string, which is also printable. A byte that is not UTF-8 becomes U+FFFD.
json_string() {
  local LC_ALL=C
  printf '"'
  encode_text json "$1"
  printf '"'
}

# shell_word TEXT: one word for any POSIX shell. (bash's %q writes forms that dash cannot read.)
shell_word() {
  local LC_ALL=C
  if [[ $1 =~ ^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$ ]]; then
    printf '%s' "$1"
  else
    printf "'%s'" "${1//\'/\'\\\'\'}"
  fi
}

# ssh_config_word VALUE: a value of a keyword that expands %-tokens, such as IdentityFile. Fails, and prints nothing,
# if it has no form that all releases of OpenSSH read: they differ in the meaning of a backslash, and `${` cannot be
# escaped.
ssh_config_word() {
  local LC_ALL=C
  case $1 in *[[:cntrl:]\"\\]* | *'${'*) return 1 ;; esac
  if [[ $1 =~ ^[A-Za-z0-9_@+:./-]+$ ]]; then printf '%s' "$1"; else printf '"%s"' "${1//%/%%}"; fi
}

# ssh_config_path PATH: for Include, which expands patterns and, since OpenSSH 9.9, %-tokens.
ssh_config_path() {
  case $1 in *[*?[%]*) return 1 ;; esac
  ssh_config_word "$1" >/dev/null && printf '"%s"' "$1"
}

# proxy_word TEXT: a word of a ProxyCommand: ssh expands its %-tokens, then a shell reads it.
proxy_word() {
  local word
  word=$(shell_word "$1")
  printf '%s' "${word//%/%%}"
}

# encode_text terminal|json TEXT: in the locale C, in which bash handles bytes.
encode_text() {
  local rest=$2 run out='' size hidden escaped
  while [ -n "$rest" ]; do
    run=${rest%%[!\ -~]*}
    rest=${rest:${#run}}
    if [ "$1" = json ]; then
      run=${run//\\/\\\\}
      run=${run//\"/\\\"}
    fi
    out+=$run
    if [ -z "$rest" ]; then break; fi
    look_at_character "$rest"
    if [ "$hidden" = false ]; then
      out+=${rest:0:size}
    else
      "$1_escape" "${rest:0:size}"
      out+=$escaped
    fi
    rest=${rest:size}
  done
  printf '%s' "$out"
}

# look_at_character TEXT: sets the caller's $size, the number of bytes of the first character, and $hidden, whether it
# must be escaped.
look_at_character() {
  local next=[$'\x80'-$'\xbf']
  hidden=true
  size=1
  # shellcheck disable=SC2254 # $next is a pattern
  case $1 in
    # The ranges of bootstrap/core/encode/terminal.cpp, which says where they are from.
    $'\xc2'[$'\x80'-$'\x9f\xad']* | $'\xcd\x8f'* | $'\xd8\x9c'*) size=2 ;; # C1 and U+00AD; U+034F; U+061C
    # U+115F, 1160; U+17B4, 17B5; U+180E; U+200B, 200E, 200F, 2028-202E; U+2060-206F; U+3164; U+FEFF; U+FFA0; U+FFF0-FFFB
    $'\xe1\x85'[$'\x9f\xa0']* | $'\xe1\x9e'[$'\xb4\xb5']* | $'\xe1\xa0\x8e'* | $'\xe2\x80'[$'\x8b\x8e\x8f\xa8'-$'\xae']* | \
      $'\xe2\x81'[$'\xa0'-$'\xaf']* | $'\xe3\x85\xa4'* | $'\xef\xbb\xbf'* | $'\xef\xbe\xa0'* | $'\xef\xbf'[$'\xb0'-$'\xbb']*)
      size=3
      ;;
    # U+13430-1343F; U+1BCA0-1BCA3; U+1D173-1D17A; U+E0000-E00FF; U+E01F0-E0FFF
    $'\xf0\x93\x90'[$'\xb0'-$'\xbf']* | $'\xf0\x9b\xb2'[$'\xa0'-$'\xa3']* | $'\xf0\x9d\x85'[$'\xb3'-$'\xba']* | \
      $'\xf3\xa0'[$'\x80'-$'\x83']$next* | $'\xf3\xa0\x87'[$'\xb0'-$'\xbf']* | $'\xf3\xa0'[$'\x88'-$'\xbf']$next*)
      size=4
      ;;
    [$'\xc2'-$'\xdf']$next*) size=2 hidden=false ;;
    # No overlong form, no surrogate, nothing above U+10FFFF.
    $'\xe0'[$'\xa0'-$'\xbf']$next* | [$'\xe1'-$'\xec\xee\xef']$next$next* | $'\xed'[$'\x80'-$'\x9f']$next*)
      size=3 hidden=false
      ;;
    $'\xf0'[$'\x90'-$'\xbf']$next$next* | [$'\xf1'-$'\xf3']$next$next$next* | $'\xf4'[$'\x80'-$'\x8f']$next$next*)
      size=4 hidden=false
      ;;
  esac
}

# terminal_escape CHARACTER and json_escape CHARACTER: set the caller's $escaped. (With one process per character, a
# host that sends nothing else could slow this one down.)
terminal_escape() {
  local i byte
  escaped=
  case $1 in
    $'\n') escaped='\n' ;;
    $'\r') escaped='\r' ;;
    $'\t') escaped='\t' ;;
    *)
      for ((i = 0; i < ${#1}; ++i)); do
        printf -v byte '\\x%02x' "'${1:i:1}"
        escaped+=$byte
      done
      ;;
  esac
}

json_escape() {
  local i point byte
  printf -v point %d "'${1:0:1}"
  case ${#1} in
    1) if [ "$point" -ge 128 ]; then point=$((16#fffd)); fi ;;
    *) point=$((point & (127 >> ${#1}))) ;;
  esac
  for ((i = 1; i < ${#1}; ++i)); do
    printf -v byte %d "'${1:i:1}"
    point=$((point << 6 | byte & 63))
  done
  if [ "$point" -lt $((16#10000)) ]; then
    printf -v escaped '\\u%04x' "$point"
  else # two surrogates
    printf -v escaped '\\u%04x\\u%04x' $(((point - 16#10000) >> 10 | 16#d800)) $((point & 16#3ff | 16#dc00))
  fi
}
