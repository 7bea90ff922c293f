#!/usr/bin/env bats
# setup/get-mnist against servers on this machine: complete, interrupted, damaged, missing.

load ../support/background
load ../support/small_disk

files=(train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz
  t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz)

setup() {
  command -v python3 >/dev/null || skip "no python3 to serve files with"
  root=$BATS_TEST_DIRNAME/../..
  mirror=$BATS_TEST_TMPDIR/mirror
  folder=$BATS_TEST_TMPDIR/data/mnist
  sums=$BATS_TEST_TMPDIR/sums
  mkdir -p "$mirror"
  for file in "${files[@]}"; do head -c 10000 /dev/urandom >"$mirror/$file"; done
  (cd "$mirror" && sha256sum "${files[@]}") >"$sums"
  unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
}

teardown() { end_jobs; }

# serve NAME FOLDER [OPTION…]: sets $url; the requests are in $BATS_TEST_TMPDIR/NAME.log.
serve() {
  local log=$BATS_TEST_TMPDIR/$1.log
  python3 "$root/tests/support/mirror_server.py" "$2" "$log" "${@:3}" 2>/dev/null 3>&- &
  await test -s "$log"
  url=http://127.0.0.1:$(head -n 1 "$log")/
}

requests() { tail -n +2 "$BATS_TEST_TMPDIR/$1.log"; }

get_mnist() {
  run timeout 60 "$root/setup/get-mnist" --dir "$folder" --checksums "$sums" "$@"
  echo "$output"
}

# The folder contains the four files of the mirror and nothing else.
is_complete() {
  [ "$status" -eq 0 ]
  diff -r "$mirror" "$folder"
}

# A PATH with everything that the script uses, except curl.
without_curl() {
  local tool
  command -v wget >/dev/null || skip "no wget on this machine"
  mkdir "$BATS_TEST_TMPDIR/bin"
  for tool in bash basename cp cut dirname grep head mkdir mv rm sed sha256sum timeout wc wget; do
    ln -s "$(command -v "$tool")" "$BATS_TEST_TMPDIR/bin/$tool"
  done
  without_curl_path=$BATS_TEST_TMPDIR/bin
}

@test "four files are downloaded, and a second time nothing is" {
  serve whole "$mirror"
  get_mnist --mirror "$url"
  is_complete
  [ "$(requests whole | wc -l)" -eq 4 ]
  get_mnist --mirror "$url"
  is_complete
  [ "$(requests whole | wc -l)" -eq 4 ]
}

@test "source and licence come before the first download, and only then" {
  serve whole "$mirror"
  get_mnist --mirror "$url"
  is_complete
  [[ $output == *"source: MNIST, by Yann LeCun"*"licence: given as CC BY-SA 3.0"* ]]
  [[ $output == *"licence: "*"redistributes none of it"*"${files[0]} from "* ]]
  get_mnist --mirror "$url"
  [[ $output != *licence* ]]
}

@test "a complete download that was not renamed is not downloaded again" {
  serve whole "$mirror"
  mkdir -p "$folder"
  cp "$mirror/${files[0]}" "$folder/${files[0]}.part"
  get_mnist --mirror "$url"
  is_complete
  [ "$(requests whole | wc -l)" -eq 3 ]
}

@test "a download that is cut off goes on where it stopped" {
  serve cutting "$mirror" --cut 4000
  get_mnist --mirror "$url"
  is_complete
  requests cutting | grep -qx "/train-images-idx3-ubyte.gz bytes=4000-"
  requests cutting | grep -qx "/train-images-idx3-ubyte.gz bytes=8000-"
}

@test "wget serves where curl is missing, and goes on too" {
  without_curl
  serve cutting "$mirror" --cut 4000
  PATH=$without_curl_path get_mnist --mirror "$url"
  is_complete
  requests cutting | grep -qx "/train-images-idx3-ubyte.gz bytes=4000-"
}

@test "a mirror on this machine needs no curl" {
  without_curl
  local odd="$BATS_TEST_TMPDIR/100% a\\x20b"
  cp -r "$mirror" "$odd"
  PATH=$without_curl_path get_mnist --mirror file:///nowhere --mirror "file://${odd/ /%20}"
  is_complete
  rm -r "$folder"
  PATH=$without_curl_path get_mnist --mirror file:///nowhere
  [ "$status" -eq 1 ]
  [[ $output == *"; file:///nowhere: cp: "*"No such file or directory"* ]]
}

@test "--checksums takes what sha256sum prints for files in another folder, and lines of Windows" {
  (cd "$BATS_TEST_TMPDIR" && sha256sum mirror/*.gz | sed 's/$/\r/') >"$sums"
  get_mnist --mirror "file://$mirror"
  is_complete
  rm -r "$folder"
  (cd "$mirror" && sha256sum --binary ./*.gz) >"$sums"
  get_mnist --mirror "file://$mirror"
  is_complete
}

@test "the next mirror goes on with what the first had begun" {
  serve whole "$mirror"
  mkdir -p "$folder"
  head -c 2500 "$mirror/${files[0]}" >"$folder/${files[0]}.part"
  get_mnist --mirror http://127.0.0.1:1/ --mirror "$url"
  is_complete
  requests whole | grep -qx "/${files[0]} bytes=2500-"
}

@test "a server that cannot go on sends the file from its beginning" {
  serve plain "$mirror" --no-ranges
  mkdir -p "$folder"
  head -c 2500 "$mirror/${files[0]}" >"$folder/${files[0]}.part"
  get_mnist --mirror "$url"
  is_complete
}

@test "a beginning of another file is thrown away" {
  serve whole "$mirror"
  mkdir -p "$folder"
  head -c 2500 /dev/zero >"$folder/${files[0]}.part"
  head -c 20000 /dev/zero >"$folder/${files[1]}.part"
  get_mnist --mirror "$url"
  is_complete
}

@test "a wrong checksum leaves nothing under the file's name" {
  serve damaged "$mirror"
  echo more >>"$mirror/${files[1]}"
  get_mnist --mirror "$url"
  [ "$status" -eq 1 ]
  [[ $output == *"no mirror provided ${files[1]}; $url: wrong SHA-256 sum"* ]]
  [ "$(ls "$folder")" = "${files[0]}" ]
}

@test "the second mirror is asked where the first is damaged, empty or off" {
  local other=$BATS_TEST_TMPDIR/other
  mkdir "$other"
  for file in "${files[@]:0:2}"; do echo damaged >"$other/$file"; done
  serve damaged "$other"
  local first=$url
  serve whole "$mirror"
  get_mnist --mirror http://127.0.0.1:1/ --mirror "$first" --mirror "$url"
  is_complete
  [ "$(requests damaged | wc -l)" -eq 4 ]
}

@test "without a network the message names the offline way" {
  get_mnist --mirror http://127.0.0.1:1/
  [ "$status" -eq 1 ]
  [[ $output == *"build/bin/trainer digits"* ]]
  [ -z "$(ls "$folder")" ]
}

@test "a server that never answers is given up" {
  serve silent "$mirror" --stall
  get_mnist --mirror "$url" --timeout 2
  [ "$status" -eq 1 ]
  [[ $output == *"no mirror provided ${files[0]}"* ]]
}

@test "a file that differs is kept, unless forced, and then until its successor is complete" {
  serve whole "$mirror"
  mkdir -p "$folder"
  echo mine >"$folder/${files[2]}"
  get_mnist --mirror "$url"
  [ "$status" -eq 1 ]
  [[ $output == *"${files[2]}"*"--force"* ]]
  [ "$(requests whole | wc -l)" -eq 0 ]
  get_mnist --mirror http://127.0.0.1:1/ --force
  [ "$status" -eq 1 ]
  [ "$(cat "$folder/${files[2]}")" = mine ]
  get_mnist --mirror "$url" --force
  is_complete
}

@test "uncompressed files, which would be read first, are kept unless forced" {
  serve whole "$mirror"
  mkdir -p "$folder"
  echo digits >"$folder/${files[0]%.gz}"
  get_mnist --mirror "$url"
  [ "$status" -eq 1 ]
  [[ $output == *"${files[0]%.gz}"* ]]
  [ "$(ls "$folder")" = "${files[0]%.gz}" ]
  get_mnist --mirror "$url" --force
  is_complete
}

@test "--dry-run prints the plan and changes nothing" {
  run "$root/setup/get-mnist" --dir "$folder" --dry-run
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 4 ]
  [[ ${lines[0]} == *440fcabf73cc546f*https://ossci-datasets.s3.amazonaws.com/mnist/* ]]
  [ ! -e "$BATS_TEST_TMPDIR/data" ]
}

# start NAME [OPTION…]: get-mnist in the background; its output and its exit code are in files NAME.out and NAME.code.
start() {
  local name=$BATS_TEST_TMPDIR/$1
  {
    local code=0
    timeout 60 "$root/setup/get-mnist" --dir "$folder" --checksums "$sums" --mirror "$url" "${@:2}" \
      >"$name.out" 2>&1 3>&- || code=$?
    echo "$code" >"$name.code"
  } &
}

# one_waits_for_the_other: two runs for one folder at a time; the server goes on when the second one waits.
one_waits_for_the_other() {
  local go=$BATS_TEST_TMPDIR/go
  serve slow "$mirror" --hold "$go"
  start first
  await test -s "$folder/${files[0]}.part"
  start second
  AWAIT_SECONDS=20 await grep -qF "another get-mnist is at work in $folder: waiting until it ends" "$BATS_TEST_TMPDIR/second.out"
  touch "$go"
  await test -s "$BATS_TEST_TMPDIR/first.code"
  await test -s "$BATS_TEST_TMPDIR/second.code"
  cat "$BATS_TEST_TMPDIR"/*.out
  [ "$(cat "$BATS_TEST_TMPDIR"/{first,second}.code | tr '\n' ' ')" = "0 0 " ]
  diff -r "$mirror" "$folder"
  [ "$(requests slow | wc -l)" -eq 4 ]
}

# no_flock: as on a file system without locks.
no_flock() {
  mkdir "$BATS_TEST_TMPDIR/no_flock"
  printf '#!/bin/sh\necho "flock: $2: Function not implemented" >&2\nexit 65\n' >"$BATS_TEST_TMPDIR/no_flock/flock"
  chmod +x "$BATS_TEST_TMPDIR/no_flock/flock"
  PATH=$BATS_TEST_TMPDIR/no_flock:$PATH
}

@test "of two runs at a time, one waits and finds the files" {
  command -v flock >/dev/null || skip "no flock on this machine"
  one_waits_for_the_other
}

@test "of two runs at a time, one waits and finds the files, also where a file system has no locks" {
  no_flock
  one_waits_for_the_other
}

@test "what a killed run leaves of a lock keeps nobody out, or its message says what to remove" {
  mkdir -p "$folder"
  touch "$folder/.get-mnist.lock"
  if command -v flock >/dev/null; then
    get_mnist --mirror "file://$mirror"
    is_complete
    rm "$folder"/*
  fi
  no_flock
  mkdir "$folder/.get-mnist.lock.d"
  get_mnist --mirror "file://$mirror" --timeout 1
  [ "$status" -eq 1 ]
  [[ $output == *"waiting until it ends; if there is none: rmdir $folder/.get-mnist.lock.d"* ]]
  [[ $output == *"found:    another get-mnist at work in $folder, still after 1 seconds"*"rmdir $folder/.get-mnist.lock.d"* ]]
  [ "$(ls -A "$folder")" = .get-mnist.lock.d ]
  rmdir "$folder/.get-mnist.lock.d"
  get_mnist --mirror "file://$mirror"
  is_complete
}

@test "a complete folder that cannot be written needs no lock" {
  [ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
  mkdir -p "$(dirname "$folder")"
  cp -r "$mirror" "$folder"
  chmod a-w "$folder"
  get_mnist --mirror http://127.0.0.1:1/
  chmod u+w "$folder"
  is_complete
}

@test "on a full disk the error says so, and what was downloaded is kept" {
  local path
  serve whole "$mirror"
  for path in "$PATH" wget; do
    if [ "$path" = wget ]; then without_curl && path=$without_curl_path; fi
    on_small_disk 16 "$folder" timeout 60 env PATH="$path" "$root/setup/get-mnist" --dir "$folder" \
      --checksums "$sums" --mirror "$url" --mirror http://127.0.0.1:1/
    [ "$status" -eq 1 ]
    [[ $output == *"found:    '$folder' cannot be written: No space left on device"*"do:       make room"* ]]
    [[ $output == *"there: ${files[0]} ${files[1]}.part" ]]
    [[ $output != *127.0.0.1:1/* ]]
  done
}

@test "usage" {
  run "$root/setup/get-mnist" --help
  [ "$status" -eq 0 ]
  [[ $output == usage:* ]]
  echo "0123  ${files[0]}" >"$BATS_TEST_TMPDIR/short"
  for wrong in "--nonsense" "--dir" "--timeout soon" "--timeout 0" "--checksums /nowhere" \
    "--checksums $BATS_TEST_TMPDIR/short"; do
    # shellcheck disable=SC2086 # an option and its value
    run "$root/setup/get-mnist" $wrong
    [ "$status" -eq 2 ]
  done
}
