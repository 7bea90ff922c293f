# What the helpers say, for ssh-setup, check-hosts, login-shell and get-libtorch. The script that sources this
# sets $program. Data goes to standard output, words to standard error.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# The words of ssh and ldd and the numbers of awk are read here, so they must not be in the user's language.
export LC_ALL=C

say() { printf '%s: %s\n' "$program" "$*" >&2; }

# fail FOUND EXPECTED DO
fail() {
  printf '%s: error\n  found:    %s\n  expected: %s\n  do:       %s\n' "$program" "$@" >&2
  exit 1
}

usage_error() {
  printf '%s: %s; %s --help explains the options\n' "$program" "$*" "$program" >&2
  exit 2
}

# consent QUESTION: true for --yes, else for a "y" of somebody who sits there.
consent() {
  local answer
  if [ "${yes-false}" = true ]; then return 0; fi
  if [ ! -t 0 ]; then return 1; fi
  read -r -p "$1 [y/N] " answer
  [[ $answer == [yY]* ]]
}

# Reads lines of cells divided by tabs and prints them as aligned columns.
table() {
  awk -F '\t' '
    { for (i = 1; i <= NF; ++i) { cell[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) }
      if (NF > columns) columns = NF }
    END {
      for (row = 1; row <= NR; ++row) {
        line = ""
        for (i = 1; i <= columns; ++i) line = line sprintf("%-" width[i] "s  ", cell[row, i])
        sub(/ +$/, "", line)
        print line
      }
    }'
}
