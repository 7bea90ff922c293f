# Messages of ssh-setup, check-hosts, login-shell, get-libtorch, get-mnist and get-cifar. The script that sources this
# sets $program. Data goes to standard output, messages to standard error. A message may contain untrusted text: each
# function here encodes it with `printable`, so that callers need not.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# The scripts parse messages of ssh and ldd and numbers of awk, so these must not be in the user's language.
export LC_ALL=C

# shellcheck source=setup/lib/text.sh
. "${BASH_SOURCE[0]%/*}/text.sh"

say() { printf '%s: %s\n' "$program" "$(printable "$*")" >&2; }

# tell LINE: on standard output.
tell() { printf '%s\n' "$(printable "$*")"; }

print_error() {
  printf '%s: error\n  found:    %s\n  expected: %s\n  do:       %s\n' "$program" "$(printable "$1")" \
    "$(printable "$2")" "$(printable "$3")" >&2
}

# fail FOUND EXPECTED DO
fail() {
  print_error "$@"
  exit 1
}

usage_error() {
  say "$*; $program --help explains the options"
  exit 2
}

# shown_url URL: the URL as a message may show it, because messages end up in logs that others read: without a password, a
# token before the host, or a query, which may be a signature.
shown_url() {
  local LC_ALL=C scheme='' user rest=$1
  if [[ $rest =~ ^([A-Za-z][A-Za-z0-9+.-]*://)(.*)$ ]]; then scheme=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}; fi
  # In the second form the password contains a character that ends the host, so that the URL is wrong.
  if [[ $rest =~ ^([^/?#]*)@(.*)$ ]] || [[ $rest =~ ^([^/?#:]*:.*)@(.*)$ ]]; then
    user=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}
    if [[ $user == *:* ]]; then user="${user%%:*}:***"; else user='***'; fi
    scheme+=$user@
  fi
  if [[ $rest == *[?#]* ]]; then rest="${rest%%[?#]*}?***"; fi
  printf '%s' "$scheme$rest"
}

# consent QUESTION: true with --yes, or if somebody answers "y" in a terminal.
consent() {
  local answer
  if [ "${yes-false}" = true ]; then return 0; fi
  if [ ! -t 0 ]; then return 1; fi
  read -r -p "$(printable "$1") [y/N] " answer
  [[ $answer == [yY]* ]]
}

# row CELL…: a line for `table`. Always use this function: a raw tab or newline in a cell would forge a cell or line.
row() {
  printable "$1"
  shift
  local cell
  for cell in "$@"; do
    printf '\t'
    printable "$cell"
  done
  echo
}

# Reads the lines of `row` and prints them as aligned columns. If the terminal is too narrow for them, the titles of the
# first line become the first column, and the other lines the next ones, as many at a time as there is room for.
table() {
  local room=0
  if [ -t 1 ]; then { room=$(stty size <&3 2>/dev/null | cut -d ' ' -f 2); } 3<&1 || room=0; fi
  awk -F '\t' -v room="${room:-0}" '
    function characters(text) { gsub(/[\200-\277]/, "", text); return length(text) } # of UTF-8, read as bytes
    function padded(text, width) { return text sprintf("%" (width - characters(text) + 2) "s", "") }
    function show(line) { sub(/ +$/, "", line); print line }
    { for (i = 1; i <= NF; ++i) {
        cell[NR, i] = $i
        if (characters($i) > width[i]) width[i] = characters($i)
        if (characters($i) > widest[NR]) widest[NR] = characters($i)
      }
      if (NF > columns) columns = NF }
    END {
      for (i = 1; i <= columns; ++i) total += width[i] + 2
      if (room + 0 == 0 || total - 2 <= room) {
        for (row = 1; row <= NR; ++row) {
          line = ""
          for (i = 1; i <= columns; ++i) line = line padded(cell[row, i], width[i])
          show(line)
        }
        exit
      }
      for (first = 2; first <= NR; first = last + 1) {
        if (first > 2) print ""
        used = widest[1] + 2 + widest[first]
        for (last = first; last < NR && used + 2 + widest[last + 1] <= room; ++last) used += 2 + widest[last + 1]
        for (i = 1; i <= columns; ++i) {
          line = padded(cell[1, i], widest[1])
          for (row = first; row <= last; ++row) line = line padded(cell[row, i], widest[row])
          show(line)
        }
      }
    }'
}
