#!/usr/bin/env bats
# `hpcboot launchers`, and the files of users that describe launchers: found, refused if they are not safe, known to
# every verb that resolves.
# shellcheck disable=SC2154 # run sets stderr

bats_require_minimum_version 1.5.0

setup() {
  HPCBOOT=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  cd "$BATS_TEST_TMPDIR" || return
  umask 022
  unset HPCBOOT_LAUNCHER_PATH XDG_CONFIG_HOME
  export HOME=$PWD
  own=$HOME/.config/hpcboot/launchers
  mkdir -p "$own"
}

# description NAME: a launcher that sets NAME_RANK, NAME_SIZE and NAME_LOCAL.
description() {
  printf '%s\n' "name = \"$1\"" 'level = "MPI launcher"' 'why_here = "it starts inside a job"' "set_by = \"run_$1\"" \
    'documented = "its manual"' 'cannot_know = "hosts"' '[read]' "rank = \"$1_RANK\"" "world_size = \"$1_SIZE\"" \
    "local_rank = \"$1_LOCAL\"" '[variables]' "secret = [\"$1_KEY\"]"
}

# resolves COMMAND…: within a launch of "mine".
resolves() { env mine_RANK=1 mine_SIZE=2 mine_LOCAL=0 mine_KEY=xyz "$@"; }

# refused CODE TEXT…: showing the placement fails so, and says each text.
refused() {
  local code=$1 text
  shift
  run --separate-stderr "$HPCBOOT" show
  echo "$status: $stderr"
  [ "$status" -eq "$code" ]
  for text in "$@"; do [[ $stderr == *"$text"* ]]; done
}

@test "the table has every launcher, in 80 columns" {
  description mine >"$own/mine.toml"
  run --separate-stderr "$HPCBOOT" launchers
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == name*level*"set by"*from ]]
  for name in explicit torchrun slurm condor pbsdsh oar; do [[ $'\n'$output == *$'\n'"$name "*"built in"* ]]; done
  [[ $output == *"mine "*"MPI launcher"*run_mine*mine.toml* ]]
  [ "$(wc -L <<<"$output")" -le 80 ]
}

@test "one launcher: its variables by kind, where they are documented, what they do not say" {
  run --separate-stderr "$HPCBOOT" launchers horovod
  [ "$status" -eq 0 ]
  [[ $output == *"level:"*"MPI launcher"*"cannot know:"*"built in"* ]]
  [[ $output == *identity*HOROVOD_RANK*needed*secret*_HOROVOD_SECRET_KEY* ]]
  run --separate-stderr "$HPCBOOT" launchers oar
  [[ $output == *scheduler*OAR_JOB_ID* ]]
  run --separate-stderr "$HPCBOOT" launchers condro
  [ "$status" -eq 2 ]
  [[ $stderr == *"unknown launcher 'condro'; did you mean condor? "* ]]
  run --separate-stderr "$HPCBOOT" launchers aor
  [[ $stderr == *"did you mean oar?"* ]]
  run --separate-stderr "$HPCBOOT" launchers zzzzzzzzz
  [ "$status" -eq 2 ]
  [[ $stderr == *"unknown launcher 'zzzzzzzzz'; "*lists\ all* && $stderr != *"did you mean"* ]]
}

@test "--check says what is wrong with a file, wherever it lies" {
  description mine >mine.toml
  run --separate-stderr "$HPCBOOT" launchers --check mine.toml
  [ "$status" -eq 0 ]
  [ "$output" = "ok: mine.toml describes the launcher mine (level: MPI launcher)" ]
  sed -i 's/world_size/world_sise/' mine.toml
  run --separate-stderr "$HPCBOOT" launchers --check mine.toml
  [ "$status" -eq 28 ]
  [[ $stderr == *"mine.toml:9: there is no key read.world_sise"*"write world_size"* ]]
  description slurm >mine.toml
  run --separate-stderr "$HPCBOOT" launchers --check mine.toml
  [ "$status" -eq 28 ]
  [[ $stderr == *"the name slurm is already taken"* ]]
  run --separate-stderr "$HPCBOOT" launchers --check nowhere.toml
  [ "$status" -eq 27 ]
}

@test "a file in the user's folder is known to every verb" {
  description mine >"$own/mine.toml"
  run --separate-stderr resolves "$HPCBOOT" show
  [ "$status" -eq 0 ]
  [[ $output == *"launcher     mine"* ]]
  [[ $(resolves "$HPCBOOT" env) == *RANK=1* ]]
  [[ $(resolves "$HPCBOOT" sanitize) == *"-u mine_RANK"* ]]
  resolves "$HPCBOOT" capture capture >/dev/null
  grep -qx mine_RANK=1 capture/*.env
  grep -qx 'mine_KEY=REDACTED' capture/*.env
  [[ $("$HPCBOOT" replay capture) == *mine* ]]
  # HPCBOOT_METHODS knows it.
  [[ $(resolves env HPCBOOT_METHODS=mine "$HPCBOOT" show) == *"launcher     mine"* ]]
  # Without a part of its variables there is no answer.
  run --separate-stderr env mine_RANK=1 "$HPCBOOT" show
  [ "$status" -eq 21 ]
  [[ $stderr == *mine_SIZE*run_mine* ]]
}

@test "the description in bootstrap/README.md works as it is written" {
  sed -n '/^```toml$/,/^```$/{/^```/d;p}' "$BATS_TEST_DIRNAME/../../bootstrap/README.md" >"$own/siterun.toml"
  "$HPCBOOT" launchers --check "$own/siterun.toml"
  step=(env SITERUN_RANK=1 SITERUN_SIZE=2 SITERUN_LOCAL_RANK=1 SITERUN_KEY=xyz SITERUN_VERBOSE=1)
  [[ $("${step[@]}" "$HPCBOOT" show --json) == *'"rank": 1'*'"launcher": "siterun"'* ]]
  run --separate-stderr "${step[@]}" "$HPCBOOT" sanitize
  [[ $output == *"-u SITERUN_RANK"* ]]
  [[ $output != *SITERUN_VERBOSE* ]]
  "${step[@]}" "$HPCBOOT" capture capture >/dev/null
  grep -qx SITERUN_VERBOSE=1 capture/*.env
  grep -qx SITERUN_KEY=REDACTED capture/*.env
  # shellcheck disable=SC2016 # the script's variable
  printf '%s\n' '#!/bin/bash' '#SBATCH --ntasks=2' 'srun -K ./train --rank $SITERUN_RANK' >job.sh
  run --separate-stderr "$HPCBOOT" lint job.sh
  [ "$status" -eq 1 ]
  [[ $output == *SITERUN_RANK*early-rank* ]]
}

@test "XDG_CONFIG_HOME and HPCBOOT_LAUNCHER_PATH name the folders" {
  mkdir -p config/hpcboot/launchers a b
  description mine >config/hpcboot/launchers/mine.toml
  description other >b/other.toml
  run --separate-stderr env XDG_CONFIG_HOME="$PWD/config" HPCBOOT_LAUNCHER_PATH="$PWD/a:$PWD/b" "$HPCBOOT" launchers
  [ "$status" -eq 0 ]
  [[ $output == *other.toml*mine.toml* ]]
  HPCBOOT_LAUNCHER_PATH=$PWD/c refused 27 "$PWD/c" HPCBOOT_LAUNCHER_PATH
  HPCBOOT_LAUNCHER_PATH=a refused 20 "'a'" "absolute paths"
}

@test "never the current folder, also not by an empty element" {
  description mine >mine.toml
  mkdir -p hpcboot/launchers .config/hpcboot/launchers
  description mine >hpcboot/launchers/mine.toml
  for path in : :: "$PWD/none:"; do
    mkdir -p none
    run --separate-stderr resolves env HPCBOOT_LAUNCHER_PATH="$path" XDG_CONFIG_HOME=. "$HPCBOOT" launchers
    [ "$status" -eq 0 ]
    [[ $output != *mine* ]]
  done
  HPCBOOT_LAUNCHER_PATH=. refused 20 HPCBOOT_LAUNCHER_PATH
}

@test "what others may write is refused, file and folder" {
  description mine >"$own/mine.toml"
  for mode in 664 646 666; do
    chmod "$mode" "$own/mine.toml"
    refused 27 "$own/mine.toml" "can be written by others" "chmod go-w"
  done
  chmod 644 "$own/mine.toml"
  for mode in 775 757 1777; do
    chmod "$mode" "$own"
    refused 27 "$own can be written by others" "chmod go-w"
  done
  chmod 755 "$own"
  "$HPCBOOT" show >/dev/null
}

@test "what belongs to another user is refused, what belongs to root is not" {
  [ "$(id -u)" -eq 0 ] || skip "only root gives files away"
  description mine >"$own/mine.toml"
  "$HPCBOOT" show >/dev/null
  chown 12345 "$own/mine.toml"
  refused 27 "$own/mine.toml belongs to the user 12345"
  chown 0 "$own/mine.toml"
  chown 12345 "$own"
  refused 27 "$own belongs to the user 12345"
}

@test "links, pipes, folders and long files are refused, without waiting" {
  description mine >elsewhere
  ln -s "$PWD/elsewhere" "$own/mine.toml"
  refused 27 "$own/mine.toml is a symbolic link"
  rm "$own/mine.toml"
  mkfifo "$own/mine.toml"
  run --separate-stderr timeout 20 "$HPCBOOT" show
  [ "$status" -eq 27 ]
  rm "$own/mine.toml"
  mkdir "$own/mine.toml"
  refused 27 "is not a regular file"
  rmdir "$own/mine.toml"
  { description mine && head -c 65536 /dev/zero | tr '\0' '#'; } >"$own/mine.toml"
  refused 27 "is longer than 65536 bytes"
}

@test "a file that is wrong stops the program, but not its help" {
  echo 'name = "mine"' >"$own/mine.toml"
  refused 28 "$own/mine.toml" "the key set_by is missing"
  "$HPCBOOT" show --help >/dev/null
  "$HPCBOOT" hosts count 'n[1-3]' >/dev/null
  "$HPCBOOT" launchers --help >/dev/null
  run --separate-stderr "$HPCBOOT" launchers
  [ "$status" -eq 28 ]
  # Two files, one name.
  description mine >"$own/mine.toml"
  description mine >"$own/second.toml"
  refused 28 "$own/second.toml: the name mine is already taken"
}

@test "what a file says is no command to a terminal" {
  description mine | sed $'s/its manual/its \\\\u001b[31mmanual/' >"$own/mine.toml"
  refused 28 "documented: the value is not a single-line string"
  description mine | sed 's/its manual/its \\u202emanual/' >"$own/mine.toml"
  run --separate-stderr "$HPCBOOT" launchers mine
  [ "$status" -eq 0 ]
  [[ $output != *$'\u202e'* ]]
}
