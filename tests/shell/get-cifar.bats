#!/usr/bin/env bats
# setup/get-cifar against servers on this machine: complete, interrupted, damaged and hostile archives.

load ../support/background
load ../support/small_disk

batches=(data_batch_1.bin data_batch_2.bin data_batch_3.bin data_batch_4.bin data_batch_5.bin test_batch.bin)

setup() {
  command -v python3 >/dev/null || skip "no python3 to serve files with"
  root=$BATS_TEST_DIRNAME/../..
  mirror=$BATS_TEST_TMPDIR/mirror
  tree=$BATS_TEST_TMPDIR/tree
  folder=$BATS_TEST_TMPDIR/data/cifar10
  sums=$BATS_TEST_TMPDIR/sums
  mkdir -p "$mirror"
  unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
  choose cifar-10-binary.tar.gz cifar-10-batches-bin "$folder"
  make_archive "${batches[@]}" batches.meta.txt readme.html
}

teardown() { end_jobs; }

# choose ARCHIVE TOP FOLDER: TOP is the folder in the archive.
choose() { archive=$1 top=$2 folder=$3; }

# make_archive FILE…: $archive with these files of 2000 random bytes in $top, and their sums.
make_archive() {
  mkdir -p "$tree/$top"
  for file in "$@"; do head -c 2000 /dev/urandom >"$tree/$top/$file"; done
  tar -C "$tree" -czf "$mirror/$archive" "$top"
  write_sums
}

write_sums() { { (cd "$tree/$top" && sha256sum -- *) && (cd "$mirror" && sha256sum "$archive"); } >"$sums"; }

# serve NAME FOLDER [OPTION…]: sets $url; the requests are in $BATS_TEST_TMPDIR/NAME.log.
serve() {
  local log=$BATS_TEST_TMPDIR/$1.log
  python3 "$root/tests/support/mirror_server.py" "$2" "$log" "${@:3}" 2>/dev/null 3>&- &
  await test -s "$log"
  url=http://127.0.0.1:$(head -n 1 "$log")/
}

requests() { tail -n +2 "$BATS_TEST_TMPDIR/$1.log"; }

get_cifar() {
  run timeout 60 "$root/setup/get-cifar" --dir "$folder" --checksums "$sums" "$@"
  echo "$output"
}

# The folder contains the files of the archive and nothing else.
is_complete() {
  [ "$status" -eq 0 ]
  diff -r "$tree/$top" "$folder"
}

# holds_nothing FOLDER: it is empty or absent.
holds_nothing() { [ -z "$(ls -A "$1" 2>/dev/null)" ]; }

# hostile_archive NAME TYPE [LINK]: the archive with one more member.
hostile_archive() {
  python3 - "$tree/$top" "$mirror/$archive" "$top" "$@" <<'PY'
import io, sys, tarfile
folder, archive, top, name, kind, *link = sys.argv[1:]
with tarfile.open(archive, "w:gz") as tar:
    member = tarfile.TarInfo(name)
    member.type = getattr(tarfile, {"file": "REG", "symlink": "SYM", "link": "LNK", "fifo": "FIFO"}[kind] + "TYPE")
    member.linkname = link[0] if link else ""
    member.size = 6 if kind == "file" else 0
    tar.addfile(member, io.BytesIO(b"owned\n") if kind == "file" else None)
    tar.add(folder, top)
PY
  write_sums
}

@test "the archive is downloaded and unpacked, and a second time nothing is" {
  serve whole "$mirror"
  get_cifar --mirror "$url"
  is_complete
  [ "$(requests whole)" = "/$archive -" ]
  get_cifar --mirror "$url"
  is_complete
  [[ $output == "nothing to download"* ]]
  [ "$(requests whole | wc -l)" -eq 1 ]
}

@test "CIFAR-100, and the python format of both" {
  serve whole "$mirror"
  for set in "100 binary cifar-100-binary train.bin test.bin fine_label_names.txt coarse_label_names.txt" \
    "100 python cifar-100-python train test meta" \
    "10 python cifar-10-batches-py ${batches[*]%.bin} batches.meta"; do
    read -r classes format name files <<<"$set"
    choose "cifar-$classes-$format.tar.gz" "$name" "$BATS_TEST_TMPDIR/data/$name"
    # shellcheck disable=SC2086 # names
    make_archive $files
    get_cifar --mirror "$url" --classes "$classes" --format "$format"
    is_complete
  done
}

@test "the python format is where torchvision looks for it, whether the folder is named or the one above" {
  local above=$BATS_TEST_TMPDIR/data/any set classes name files
  for set in "100 cifar-100-python train test meta" "10 cifar-10-batches-py ${batches[*]%.bin} batches.meta"; do
    read -r classes name files <<<"$set"
    choose "cifar-$classes-python.tar.gz" "$name" "$above"
    # shellcheck disable=SC2086 # names
    make_archive $files
    get_cifar --mirror "file://$mirror" --classes "$classes" --format python
    [ "$status" -eq 0 ]
    diff -r "$tree/$name" "$above/$name"
    choose "$archive" "$name" "$above/$name"
    get_cifar --mirror "file:///nowhere" --classes "$classes" --format python
    is_complete
  done
  rm -r "$above"/cifar-10{-batches-py,0-python}
  holds_nothing "$above"
}

@test "source and licence come before the first download, and only then" {
  serve whole "$mirror"
  get_cifar --mirror "$url"
  [[ $output == *"source: CIFAR-10, by Alex Krizhevsky"*"licence: that page states none and asks to cite"* ]]
  [[ $output == *"licence: "*"redistributes none of it"*"$archive from "* ]]
  get_cifar --mirror "$url"
  [[ $output != *licence* ]]
}

@test "a download that is cut off goes on where it stopped" {
  serve cutting "$mirror" --cut 5000
  get_cifar --mirror "$url"
  is_complete
  requests cutting | grep -qx "/$archive bytes=5000-"
  requests cutting | grep -qx "/$archive bytes=10000-"
}

@test "a later run goes on too" {
  mkdir -p "$folder"
  head -c 2500 "$mirror/$archive" >"$folder/$archive.part"
  get_cifar --mirror http://127.0.0.1:1/
  [ "$status" -eq 1 ]
  [[ $output == *"build/bin/trainer pictures"* ]]
  serve whole "$mirror"
  get_cifar --mirror "$url"
  is_complete
  [ "$(requests whole)" = "/$archive bytes=2500-" ]
}

@test "of two runs at a time, one waits and finds the files" {
  command -v flock >/dev/null || skip "no flock on this machine"
  serve slow "$mirror" --hold "$BATS_TEST_TMPDIR/go"
  start() { timeout 60 "$root/setup/get-cifar" --dir "$folder" --checksums "$sums" --mirror "$url" >"$1" 2>&1 3>&- & }
  start "$BATS_TEST_TMPDIR/first"
  first=$!
  await test -s "$folder/$archive.part"
  start "$BATS_TEST_TMPDIR/second"
  second=$!
  AWAIT_SECONDS=20 await grep -qF "another get-cifar is at work in $folder: waiting" "$BATS_TEST_TMPDIR/second"
  touch "$BATS_TEST_TMPDIR/go"
  wait "$first"
  wait "$second"
  grep -q "^nothing to download" "$BATS_TEST_TMPDIR/second"
  diff -r "$tree/$top" "$folder"
  [ "$(requests slow)" = "/$archive -" ]
}

@test "what a killed run left is used: a complete archive and some of the files" {
  mkdir -p "$folder/.get-cifar/$top"
  cp "$mirror/$archive" "$tree/$top/batches.meta.txt" "$tree/$top/${batches[0]}" "$folder/"
  get_cifar --mirror http://127.0.0.1:1/
  is_complete
}

@test "a server that never answers is given up" {
  serve silent "$mirror" --stall
  get_cifar --mirror "$url" --timeout 2
  [ "$status" -eq 1 ]
  [[ $output == *"no mirror provided $archive"* ]]
}

@test "on a full disk the error says so, and the archive, or a part of it, is kept" {
  for size in 12 20 36 48; do
    on_small_disk $size "$folder" timeout 60 "$root/setup/get-cifar" --dir "$folder" --checksums "$sums" --mirror "file://$mirror"
    [ "$status" -eq 1 ]
    [[ $output == *"found:    '$folder' cannot be written: No space left on device"*"do:       make room"* ]]
    case $size in
      12) [[ $output == *"there: $archive.part" ]] ;;
      *) [[ $output == *"there: $archive" ]] ;;
    esac
  done
}

@test "an archive with a wrong sum is refused" {
  serve damaged "$mirror"
  echo more >>"$mirror/$archive"
  get_cifar --mirror "$url"
  [ "$status" -eq 1 ]
  [[ $output == *"no mirror provided $archive; $url: wrong SHA-256 sum"* ]]
  holds_nothing "$folder"
}

@test "an archive whose files have other sums, or are missing, is refused" {
  serve whole "$mirror"
  sed -i "s/^.*  test_batch.bin/$(printf '%064d' 0)  test_batch.bin/" "$sums"
  get_cifar --mirror "$url"
  [ "$status" -eq 1 ]
  [[ $output == *"wrong SHA-256 sum of test_batch.bin"* ]]
  holds_nothing "$folder"
  tar -C "$tree" -czf "$mirror/$archive" --exclude test_batch.bin "$top"
  write_sums
  get_cifar --mirror "$url"
  [ "$status" -eq 1 ]
  [[ $output == *"no file $top/test_batch.bin"* ]]
  holds_nothing "$folder"
  echo text >"$mirror/$archive"
  write_sums
  get_cifar --mirror "$url"
  [ "$status" -eq 1 ]
  [[ $output == *"tar cannot read it"* ]]
  holds_nothing "$folder"
}

@test "a hostile archive is refused and leaves nothing" {
  serve hostile "$mirror"
  echo precious >"$BATS_TEST_TMPDIR/precious"
  for member in "../owned file" "$top/../../owned file" "$BATS_TEST_TMPDIR/owned file" "$top/.. file" \
    "$top/${batches[0]} symlink $BATS_TEST_TMPDIR/precious" "$top/other symlink ../../owned" \
    "$top symlink $BATS_TEST_TMPDIR" \
    "$top/${batches[0]} link $BATS_TEST_TMPDIR/precious" "$top/${batches[1]} fifo"; do
    # shellcheck disable=SC2086 # a name, a type and a destination
    hostile_archive $member
    get_cifar --mirror "$url"
    [ "$status" -eq 1 ]
    [[ $output == *"$archive: the path "* || $output == *"$archive: a link or a device: "* ]]
    holds_nothing "$folder"
    [ -z "$(find "$BATS_TEST_TMPDIR" -name owned)" ]
    [ "$(cat "$BATS_TEST_TMPDIR/precious")" = precious ]
  done
}

@test "only the expected files are unpacked, without special modes" {
  serve whole "$mirror"
  echo more >"$tree/$top/more"
  chmod 4755 "$tree/$top/${batches[0]}"
  tar -C "$tree" -czf "$mirror/$archive" "$top"
  rm "$tree/$top/more"
  write_sums
  get_cifar --mirror "$url"
  is_complete
  [ ! -u "$folder/${batches[0]}" ]
  [ ! -x "$folder/${batches[0]}" ]
}

@test "a file that differs is kept, unless forced, and then until its successor is complete" {
  serve whole "$mirror"
  mkdir -p "$folder"
  echo mine >"$folder/${batches[2]}"
  get_cifar --mirror "$url"
  [ "$status" -eq 1 ]
  [[ $output == *"${batches[2]}"*"--force"* ]]
  [ "$(requests whole | wc -l)" -eq 0 ]
  get_cifar --mirror http://127.0.0.1:1/ --force
  [ "$status" -eq 1 ]
  [ "$(cat "$folder/${batches[2]}")" = mine ]
  get_cifar --mirror "$url" --force
  is_complete
}

@test "class names that differ are kept, and forcing downloads nothing again" {
  serve whole "$mirror"
  mkdir -p "$folder"
  echo mine >"$folder/batches.meta.txt"
  get_cifar --mirror "$url"
  [ "$status" -eq 1 ]
  [[ $output == *"other data: $folder/batches.meta.txt"* ]]
  [ "$(cat "$folder/batches.meta.txt")" = mine ]
  [ ! -e "$folder/${batches[0]}" ]
  get_cifar --mirror "$url" --force
  is_complete
  [ "$(requests whole | wc -l)" -eq 1 ]
}

@test "a folder under the name of a file is not touched" {
  mkdir -p "$folder/${batches[0]}"
  get_cifar --mirror http://127.0.0.1:1/ --force
  [ "$status" -eq 1 ]
  [[ $output == *"a folder $folder/${batches[0]}"* ]]
}

@test "a folder whose name looks like an option or another host" {
  cd "$BATS_TEST_TMPDIR"
  for name in -x host:data; do
    choose "$archive" "$top" "$name"
    get_cifar --mirror "file://$mirror"
    [ "$status" -eq 0 ]
    diff -r "$tree/$top" "./$name"
  done
}

@test "--dry-run prints the plan and changes nothing" {
  run "$root/setup/get-cifar" --dir "$folder" --dry-run
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 2 ]
  [[ ${lines[0]} == *"$archive"*"SHA-256 c4a38c50a1bc5f3a"*https://www.cs.toronto.edu/~kriz/* ]]
  [[ ${lines[1]} == "would unpack "*"${batches[*]} batches.meta.txt" ]]
  run "$root/setup/get-cifar" --classes 100 --format python --dir "$folder" --dry-run
  [[ ${lines[0]} == *"cifar-100-python.tar.gz"*"SHA-256 85cd44d02ba64377"* ]]
  [ ! -e "$BATS_TEST_TMPDIR/data" ]
}

@test "usage" {
  run "$root/setup/get-cifar" --help
  [ "$status" -eq 0 ]
  [[ $output == usage:* ]]
  grep "$archive" "$sums" >"$BATS_TEST_TMPDIR/short"
  for wrong in "--nonsense" "--dir" "--classes" "--classes 20" "--format" "--format matlab" "--timeout soon" \
    "--timeout 0" "--checksums /nowhere" "--checksums $BATS_TEST_TMPDIR/short"; do
    # shellcheck disable=SC2086 # an option and its value
    run "$root/setup/get-cifar" $wrong
    [ "$status" -eq 2 ]
  done
}
