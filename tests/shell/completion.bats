#!/usr/bin/env bats
# Completion in bash, zsh and fish, and the manual pages of the three programs: made from the same data as --help.

bats_require_minimum_version 1.5.0

setup() {
  BIN=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")
  HPCBOOT=$BIN/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  PATH=$BIN:$PATH
  cd "$BATS_TEST_TMPDIR" || return
  export HOME=$BATS_TEST_TMPDIR
}

verbs() { "$BIN/$1" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'; }

# options_of PROGRAM [VERB]: the long options that help lists.
options_of() { "$@" --help | grep -oE '^(      |  -[a-z], )--[a-z-]+' | grep -oE -- '--[a-z-]+'; }

# programs: those that are built.
programs() {
  local name
  for name in hpcboot trainer runtable; do [ ! -x "$BIN/$name" ] || echo "$name"; done
}

# script_of PROGRAM SHELL
script_of() { if [ "$1" = runtable ]; then runtable --completion "$2"; else "$1" completion "$2"; fi; }

# in_bash PROGRAM WORD…: what bash offers for the last word.
in_bash() {
  # shellcheck disable=SC1090
  source <(script_of "$1" bash)
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  "_$1"
  printf '%s\n' "${COMPREPLY[@]}"
}

# in_fish LINE: what fish offers for the last word of a line.
in_fish() { fish --no-config -c "source (script_of ${1%% *} fish | psub); complete --do-complete '$1'" | cut -f1; }

@test "bash completes every verb and every option of each" {
  for program in $(programs); do
    [ "$program" = runtable ] || [ "$(in_bash "$program" '')" = "$(verbs "$program")" ]
    for verb in '' $(verbs "$program"); do
      # shellcheck disable=SC2086 # no word if there is no verb
      [ "$(in_bash "$program" $verb -- | sort)" = "$(options_of "$program" $verb | sort)" ] || {
        echo "$program $verb" && return 1
      }
    done
  done
  [ "$(in_bash hpcboot sa)" = sanitize ]
  [ "$(in_bash hpcboot show --ex)" = --explain ]
  [ -z "$(in_bash hpcboot nonsense --j)" ]
}

@test "bash completes values: choices, formats, launchers, sites, jobs, runs, files" {
  [ "$(in_bash hpcboot hosts c)" = $'compress\ncount' ]
  [ "$(in_bash hpcboot completion z)" = zsh ]
  [ "$(in_bash hpcboot run --gpu-bind '')" = $'auto\nnone' ]
  [ "$(in_bash hpcboot run --gpu-bind = n)" = none ]
  [ "$(in_bash hpcboot lint --format g)" = gcc ]
  [ "$(in_bash hpcboot launchers slu)" = slurm ]
  [ -z "$(in_bash hpcboot run -- --n)" ]     # the program's own options
  [ -z "$(in_bash hpcboot show --env-file x)" ] # bash offers files
  if "$HPCBOOT" script --list >/dev/null 2>&1; then
    [ "$(in_bash hpcboot script --site gra)" = "$(hpcboot completion --list sites | grep '^gra')" ]
    in_bash hpcboot script --job m | grep -qx multinode_srun
    mkdir -p .local/state/hpcboot/submitted
    chmod 700 .local/state/hpcboot/submitted
    printf '{"id": "4711", "scheduler": "slurm", "cluster": "c", "output": []}' >.local/state/hpcboot/submitted/4711.json
    [ "$(in_bash hpcboot cancel 4)" = 4711 ]
  fi
  if [ -x "$BIN/runtable" ]; then
    [ "$(in_bash runtable --format h)" = html ]
  fi
  if [ -x "$BIN/trainer" ]; then
    mkdir -p runs/a runs/b
    [ "$(in_bash trainer --mode d)" = $'dp\nddp' ]
    [ "$(in_bash trainer --resume '' | sort)" = $'auto\nbest\nnone\nruns/a\nruns/b' ]
    [ "$(in_bash trainer --model m)" = mnistnet ]
  fi
}

@test "bash runs nothing that a file's name says, neither when it offers the name nor when it inserts it" {
  # shellcheck disable=SC2016 # names, not expansions
  local name='$(touch ran)' list
  mkdir -p "runs/$name" .config/hpcboot/sites .bin
  printf '#!/bin/sh\n' >".bin/$name"
  chmod +x ".bin/$name"
  PATH=$PWD/.bin:$PATH
  : >".config/hpcboot/sites/$name.toml"
  for line in 'trainer --resume ' 'hpcboot script --site '; do
    read -ra words <<<"$line"
    [ -x "$BIN/${words[0]}" ] || continue
    list+=$(in_bash "${words[@]}" '')$'\n'
  done
  if [ -x "$BIN/trainer" ]; then grep -qxF 'runs/\$\(touch\ ran\)' <<<"$list"; fi
  if "$HPCBOOT" script --list >/dev/null 2>&1; then grep -qxF '\$\(touch\ ran\)' <<<"$list"; fi
  [[ $(in_bash hpcboot script --program '') != *'$('* ]]
  eval "printf '%s\n' ${list//$'\n'/ }" >/dev/null # as the shell reads what was inserted
  [ ! -e ran ]
}

@test "zsh accepts the scripts, which have every verb and option" {
  for program in $(programs); do
    script_of "$program" zsh >"_$program"
    for verb in $(verbs "$program"); do grep -q "^  '$verb:" "_$program"; done
    for verb in '' $(verbs "$program"); do
      # shellcheck disable=SC2086
      for option in $(options_of "$program" $verb); do grep -qE -- "'\*?$option=?\[" "_$program"; done
    done
  done
  command -v zsh >/dev/null || skip "zsh is not installed: its syntax was not checked"
  for program in $(programs); do zsh -fn "_$program"; done
}

@test "zsh completes verbs, options and values" {
  command -v zsh >/dev/null || skip "zsh is not installed"
  hpcboot completion zsh >_hpcboot
  # A shell on its own terminal, driven with the Tab key.
  cat >ask.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
send() { zpty -w shell "$1"; }
send 'PS1=; fpath=('$PWD' $fpath); autoload -Uz compinit; compinit -u; zstyle ":completion:*" list-prompt ""; LISTMAX=10000'
send 'stty cols 300; bindkey "^I" complete-word; echo READY'
while zpty -r shell line; do [[ $line == *READY* && $line != *echo* ]] && break; done
zpty -w -n shell $1$'\t'
sleep 2
text=
while zpty -r -t shell part; do text+=$part; done
print -r -- $text
END
  run -0 timeout 60 zsh -f ask.zsh 'hpcboot sani'
  [[ $output == *sanitize* ]]
  run -0 timeout 60 zsh -f ask.zsh 'hpcboot lint --format=j'
  [[ $output == *--format=json* ]]
  run -0 timeout 60 zsh -f ask.zsh 'hpcboot show --expl'
  [[ $output == *--explain* ]]
}

@test "fish completes verbs, options and values" {
  command -v fish >/dev/null || skip "fish is not installed"
  for program in $(programs); do
    script_of "$program" fish >"$program.fish"
    fish --no-config -n "$program.fish"
  done
  offered() { fish --no-config -c "source ${1%% *}.fish; complete --do-complete '$1'" | cut -f1; }
  [ "$(offered 'hpcboot sani')" = sanitize ]
  [ "$(offered 'hpcboot show --ex')" = --explain ]
  [ "$(offered 'hpcboot lint --format ')" = $'gcc\njson\ntext' ]
  if [ -x "$BIN/runtable" ]; then [ "$(offered 'runtable --format h')" = html ]; fi
  if [ -x "$BIN/trainer" ]; then [ "$(offered 'trainer --backend n')" = nccl ]; fi
}

@test "another shell is a usage error" {
  run -2 "$HPCBOOT" completion tcsh
  [[ $output == *"unknown shell 'tcsh'; expected bash, zsh or fish"* ]]
  run -2 "$HPCBOOT" completion
}

@test "the manual pages have every verb and option, and the sections that man readers expect" {
  for program in $(programs); do
    if [ "$program" = runtable ]; then runtable --manual; else "$program" manual; fi >"$program.1"
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS ENVIRONMENT FILES "EXIT STATUS" EXAMPLES "SEE ALSO"; do
      grep -qx ".SH $section" "$program.1" || { echo "$program: $section" && return 1; }
    done
    for verb in $(verbs "$program"); do grep -qx ".SS $program $verb" "$program.1"; done
    for verb in '' $(verbs "$program"); do
      # shellcheck disable=SC2086
      for option in $(options_of "$program" $verb); do grep -qF -- "${option//-/\\-}" "$program.1"; done
    done
  done
  command -v groff >/dev/null || skip "groff is not installed: the pages were not set"
  for program in $(programs); do
    run -0 groff -man -Tutf8 -Kutf8 -ww -z "$program.1"
    [ -z "$output" ]
  done
}

@test "help fits 80 columns, begins with a sentence and two examples, and ends with exit codes" {
  for program in $(programs); do
    for verb in '' $(verbs "$program"); do
      # shellcheck disable=SC2086
      run -0 "$program" $verb --help
      for line in "${lines[@]}"; do [ ${#line} -le 80 ] || { echo "$program $verb: $line" && return 1; }; done
      [[ ${lines[0]} =~ ^[A-Z].*[a-z].*$ && $output == *$'\nUsage: '*$'\nExamples:\n'*$'\nExit codes:\n'* ]]
      [ "$(sed -n '/^Examples:/,/^$/p' <<<"$output" | grep -c '^  [^# ]')" -ge 2 ] || { echo "$program $verb" && return 1; }
      [[ $output != *$'\033'* ]]
    done
  done
}

@test "headings are bold on a terminal, but not if NO_COLOR is set" {
  command -v script >/dev/null || skip "script(1) is not installed: there is no terminal to show them on"
  bold=$'\033[1mExamples:\033[0m'
  run -0 env -u NO_COLOR TERM=xterm script -qec "$HPCBOOT show --help" /dev/null
  [[ $output == *"$bold"* ]]
  run -0 env NO_COLOR=1 TERM=xterm script -qec "$HPCBOOT show --help" /dev/null
  [[ $output == *Examples:* && $output != *$'\033'* ]]
  # The terminal that Open MPI gives its ranks is not the user's.
  run -0 env -u NO_COLOR TERM=xterm PMIX_RANK=0 script -qec "$HPCBOOT show --help" /dev/null
  [[ $output == *Examples:* && $output != *$'\033'* ]]
}

@test "an argument too many is named, and a program that lacks its -- is told where it goes" {
  run -2 "$HPCBOOT" show foo
  [[ $output == "hpcboot: unexpected argument 'foo'; hpcboot show --help lists the options" ]]
  run -2 "$HPCBOOT" logs --lines 3 4711 foo bar
  [[ $output == "hpcboot: unexpected argument 'foo'; hpcboot logs --help lists the options" ]]
  run -2 "$HPCBOOT" run python3 train.py --epochs 5
  [[ $output == *"unrecognised option '--epochs'; a program and its options come after --; hpcboot run --help "* ]]
  run -2 "$HPCBOOT" run --epochs 5 -- python3 train.py
  [[ $output != *"come after --"* ]]
}

@test "a value that is not a number is named with its option" {
  run -2 "$HPCBOOT" run -n x -- true
  [[ $output == "hpcboot: --ranks is 'x'; expected a number from 1 to 10000000; hpcboot run --help lists the options" ]]
}

@test "a verb that does not exist names the nearest one" {
  run -2 "$HPCBOOT" lnit job.sh
  [[ $output == "hpcboot: unknown verb 'lnit'; did you mean lint? hpcboot --help lists the verbs" ]]
  run -2 "$HPCBOOT" zzz
  [[ $output == "hpcboot: unknown verb 'zzz'; hpcboot --help lists the verbs" ]]
  run -2 "$HPCBOOT" --verison
  [[ $output == "hpcboot: unrecognised option '--verison'; only --help and --version may come before a verb" ]]
  run -2 "$HPCBOOT" help lnit
  [[ $output == *"did you mean lint?"* ]]
  run -0 "$HPCBOOT" help lint
  [ "$output" = "$("$HPCBOOT" lint --help)" ]
}

@test "an option that does not exist names the nearest one" {
  run -2 "$HPCBOOT" show --jsn
  [[ $output == "hpcboot: unrecognised option '--jsn'; did you mean --json? hpcboot show --help lists the options" ]]
}
