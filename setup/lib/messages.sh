# Messages of ssh-setup, check-hosts, login-shell and get-libtorch. The script that sources this sets $program.
# Data goes to standard output, messages to standard error. A message may contain untrusted text: each function
# here encodes it with `printable`, so that callers need not.
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

# Reads the lines of `row` and prints them as aligned columns.
table() {
  awk -F '\t' '
    function characters(text) { gsub(/[\200-\277]/, "", text); return length(text) } # of UTF-8, read as bytes
    { for (i = 1; i <= NF; ++i) {
        cell[NR, i] = $i
        if (characters($i) > width[i]) width[i] = characters($i)
      }
      if (NF > columns) columns = NF }
    END {
      for (row = 1; row <= NR; ++row) {
        line = ""
        for (i = 1; i <= columns; ++i)
          line = line cell[row, i] sprintf("%" (width[i] - characters(cell[row, i]) + 2) "s", "")
        sub(/ +$/, "", line)
        print line
      }
    }'
}
