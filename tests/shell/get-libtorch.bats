#!/usr/bin/env bats
# setup/get-libtorch with a fake pip, which provides wheels of small libraries: complete, damaged,
# missing, late. No network.

setup() {
  for tool in cc cmake ldd; do command -v "$tool" >/dev/null || skip "no $tool to make wheels with"; done
  if [ "$(uname -sm)" != "Linux x86_64" ]; then skip "the wheels are for Linux on x86-64"; fi
  root=$BATS_TEST_DIRNAME/../..
  index=$BATS_TEST_TMPDIR/index
  folder=$BATS_TEST_TMPDIR/deps
  lock=$BATS_TEST_TMPDIR/lock
  calls=$BATS_TEST_TMPDIR/calls
  target=$folder/libtorch-9.8.7-cuda
  mkdir -p "$index" "$BATS_TEST_TMPDIR/bin"
  : >"$calls"
  make_nvidia_wheel
  make_torch_wheel
  write_lock
  fake_pip
  PATH=$BATS_TEST_TMPDIR/bin:$PATH
  export FAKE_INDEX=$index FAKE_CALLS=$calls
}

# library FILE SYMBOL [CC OPTION…]: builds a library that defines the symbol, and $more; its soname is the file's name.
library() {
  mkdir -p "$(dirname "$1")"
  echo "int $2(void) { return 1; } ${more-}" |
    cc -shared -fPIC -x c - -o "$1" -x none -Wl,-soname,"$(basename "$1")" "${@:3}"
}

wheel() { (cd "$2" && cmake -E tar cf "$index/$1.whl" --format=zip -- *); }

# This NVIDIA library is on no system, and needs another one.
make_nvidia_wheel() {
  local tree=$BATS_TEST_TMPDIR/nvidia
  library "$tree/nvidia/fake/lib/libfakelower.so.1" fake_lower
  library "$tree/nvidia/fake/lib/libfakecuda.so.1" fake_cuda -Wl,--no-as-needed \
    "$tree/nvidia/fake/lib/libfakelower.so.1" -Wl,-rpath,'$ORIGIN'
  mkdir -p "$BATS_TEST_TMPDIR/lower/nvidia/fake/lib" "$BATS_TEST_TMPDIR/lower/nvidia_lower-9.8.7.dist-info"
  mv "$tree/nvidia/fake/lib/libfakelower.so.1" "$BATS_TEST_TMPDIR/lower/nvidia/fake/lib"
  mkdir -p "$tree/nvidia_fake-9.8.7.dist-info"
  touch "$tree/nvidia_fake-9.8.7.dist-info/RECORD" "$BATS_TEST_TMPDIR/lower/nvidia_lower-9.8.7.dist-info/RECORD"
  wheel nvidia-lower "$BATS_TEST_TMPDIR/lower"
  wheel nvidia-fake "$tree"
}

make_torch_wheel() {
  local tree=$BATS_TEST_TMPDIR/torch
  library "$tree/torch/lib/libtorch.so" torch_symbol -Wl,--no-as-needed \
    "$BATS_TEST_TMPDIR/nvidia/nvidia/fake/lib/libfakecuda.so.1" -Wl,--allow-shlib-undefined \
    -Wl,-rpath,'$ORIGIN/../../nvidia/fake/lib' -Wl,--disable-new-dtags
  library "$tree/torch/lib/libtorch_python.so" python_symbol
  mkdir -p "$tree/torch/share/cmake/Torch" "$tree/torch/include" "$tree/torch-9.8.7.dist-info"
  echo 'set(PACKAGE_VERSION "9.8.7")' >"$tree/torch/share/cmake/Torch/TorchConfigVersion.cmake"
  touch "$tree/torch/share/cmake/Torch/TorchConfig.cmake" "$tree/torch/include/torch.h"
  touch "$tree/torch/__init__.py" "$tree/torch-9.8.7.dist-info/METADATA"
  wheel torch "$tree"
}

write_lock() {
  local name
  {
    echo '# a comment'
    while read -r name libraries; do
      echo "9.8.7 $name==9.8.7 1 $(sha256sum <"$index/$name.whl" | cut -d ' ' -f 1) $libraries"
    done <<<'torch -
nvidia-fake libfakecuda.so.1
nvidia-lower libfakelower.so.1'
  } >"$lock"
}

# Accepts "download … --dest FOLDER NAME==VERSION" like pip.
fake_pip() {
  cat >"$BATS_TEST_TMPDIR/bin/pip3" <<'PIP'
#!/bin/bash
requirement=${!#}
while [ "$1" != --dest ]; do shift; done
echo "$requirement" >>"$FAKE_CALLS"
if [ -n "${FAKE_PIP_SLEEP-}" ]; then exec sleep "$FAKE_PIP_SLEEP"; fi
if [ ! -e "$FAKE_INDEX/${requirement%%==*}.whl" ]; then
  echo "ERROR: No matching distribution found for $requirement" >&2
  exit 1
fi
mkdir -p "$2" && cp "$FAKE_INDEX/${requirement%%==*}.whl" "$2/"
PIP
  chmod +x "$BATS_TEST_TMPDIR/bin/pip3"
}

get_libtorch() {
  run timeout 60 "$root/setup/get-libtorch" --dir "$folder" --lock "$lock" "$@"
  echo "$output"
}

# No partial download is left behind.
no_leftovers() { ! compgen -G "$folder/get-libtorch.*[!g]" >/dev/null; }

@test "the wheel and what its libraries need are brought, without Python's part" {
  get_libtorch
  [ "$status" -eq 0 ]
  [ "$(sort "$calls" | paste -sd ' ')" = "nvidia-fake==9.8.7 nvidia-lower==9.8.7 torch==9.8.7" ]
  [ -f "$target/torch/lib/libtorch.so" ]
  [ ! -e "$target/torch/lib/libtorch_python.so" ]
  [ ! -e "$target/torch/__init__.py" ]
  [[ ${lines[-1]} == "cmake -S . -B "*" -DCMAKE_PREFIX_PATH=$target/torch" ]]
  no_leftovers
}

@test "a second time nothing is downloaded" {
  get_libtorch
  : >"$calls"
  get_libtorch
  [ "$status" -eq 0 ]
  [ ! -s "$calls" ]
}

@test "libraries that this system has are not downloaded, unless --bundled" {
  mkdir "$BATS_TEST_TMPDIR/system"
  cp "$BATS_TEST_TMPDIR"/{nvidia,lower}/nvidia/fake/lib/* "$BATS_TEST_TMPDIR/system"
  export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/system
  get_libtorch
  [ "$status" -eq 0 ]
  [ "$(cat "$calls")" = "torch==9.8.7" ]
  get_libtorch --bundled
  [ "$status" -eq 0 ]
  [ "$(wc -l <"$calls")" -eq 3 ]
}

@test "a wheel with a wrong sum is not unpacked" {
  echo more >>"$index/torch.whl"
  get_libtorch
  [ "$status" -eq 1 ]
  [[ $output == *"found:    torch.whl with the SHA-256 sum "* ]]
  [ ! -e "$target" ]
  no_leftovers
}

@test "what was interrupted between wheels goes on" {
  mv "$index/nvidia-fake.whl" "$BATS_TEST_TMPDIR/"
  get_libtorch
  [ "$status" -eq 1 ]
  mv "$BATS_TEST_TMPDIR/nvidia-fake.whl" "$index/"
  : >"$calls"
  get_libtorch
  [ "$status" -eq 0 ]
  [ "$(sort "$calls" | paste -sd ' ')" = "nvidia-fake==9.8.7 nvidia-lower==9.8.7" ]
}

@test "a wheel that could not be unpacked as a whole is unpacked again" {
  more='char fake_data[3000000] = {1};' make_nvidia_wheel
  write_lock
  # As on a full disk: no file may have more than 1500 blocks of 1024 bytes.
  (ulimit -f 1500 && get_libtorch && [ "$status" -eq 1 ] && [[ $output == *"do:       run this again" ]])
  [ ! -e "$target/nvidia" ]
  : >"$calls"
  get_libtorch
  [ "$status" -eq 0 ]
  [ "$(sort "$calls" | paste -sd ' ')" = "nvidia-fake==9.8.7 nvidia-lower==9.8.7" ]
  ldd "$target/torch/lib/libtorch.so"
}

@test "a wheel without its last file was interrupted, and is unpacked again" {
  get_libtorch
  rm -r "$target/nvidia_fake-9.8.7.dist-info"
  truncate -s 4096 "$target/nvidia/fake/lib/libfakecuda.so.1"
  : >"$calls"
  get_libtorch
  [ "$status" -eq 0 ]
  [ "$(cat "$calls")" = "nvidia-fake==9.8.7" ]
  cmp "$BATS_TEST_TMPDIR/nvidia/nvidia/fake/lib/libfakecuda.so.1" "$target/nvidia/fake/lib/libfakecuda.so.1"
}

@test "a library that the loader cannot load is an error" {
  get_libtorch
  truncate -s 4096 "$target/nvidia/fake/lib/libfakecuda.so.1"
  get_libtorch
  [ "$status" -eq 1 ]
  [[ $output == *"found:    libraries that ldd cannot load"*": libtorch.so"*"remove $target and run this again" ]]
}

@test "without a network: pip's last words, and where to look" {
  rm "$index/torch.whl"
  get_libtorch
  [ "$status" -eq 1 ]
  [[ $output == *"No matching distribution found for torch==9.8.7"*"pip config list"* ]]
  grep -q "No matching distribution" "$folder/get-libtorch.log"
  no_leftovers
}

@test "a download that takes too long is given up" {
  export FAKE_PIP_SLEEP=50
  get_libtorch --timeout 1
  [ "$status" -eq 1 ]
  [[ $output == *"not done after 1 seconds"* ]]
  no_leftovers
}

@test "a disk that is too small is found before the download" {
  sed -i 's/^\(9.8.7 torch==9.8.7\) 1 /\1 900000000 /' "$lock"
  get_libtorch
  [ "$status" -eq 1 ]
  [[ $output == *"MB free in $folder"*"2700000000 MB"* ]]
  [ ! -s "$calls" ]
}

@test "libraries of this system that are too old are found" {
  more='int fake_newer(void); int use_newer(void) { return fake_newer(); }' make_torch_wheel
  write_lock
  get_libtorch
  [ "$status" -eq 1 ]
  [[ $output == *"undefined symbol: fake_newer"*"--bundled"* ]]
}

@test "a library that this system has, but without a symbol that is needed, is brought" {
  mkdir "$BATS_TEST_TMPDIR/system"
  cp "$BATS_TEST_TMPDIR"/{nvidia,lower}/nvidia/fake/lib/* "$BATS_TEST_TMPDIR/system"
  more='int fakecudaGrow(void) { return 2; }' make_nvidia_wheel
  more='int fakecudaGrow(void); int use(void) { return fakecudaGrow(); }' make_torch_wheel
  write_lock
  LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/system get_libtorch
  [ "$status" -eq 0 ]
  [ "$(sort "$calls" | paste -sd ' ')" = "nvidia-fake==9.8.7 torch==9.8.7" ]
}

@test "another version in the folder is not taken for this one" {
  get_libtorch
  sed -i 's/9.8.7/1.2.3/' "$target/torch/share/cmake/Torch/TorchConfigVersion.cmake"
  get_libtorch
  [ "$status" -eq 1 ]
  [[ $output == *"LibTorch '1.2.3'"*"expected: 9.8.7"* ]]
}

@test "a version that is not known is refused with those that are" {
  get_libtorch --version 3.1.4
  [ "$status" -eq 1 ]
  [[ $output == *"found:    --version 3.1.4"*"expected: one of 9.8.7"* ]]
  [ ! -e "$folder" ]
}

@test "--cpu takes an archive, by its sum where one is given" {
  local tree=$BATS_TEST_TMPDIR/archive zip=$BATS_TEST_TMPDIR/libtorch.zip
  mkdir -p "$tree/libtorch/lib" "$tree/libtorch/share"
  library "$tree/libtorch/lib/libtorch.so" torch_symbol
  cp -r "$BATS_TEST_TMPDIR/torch/torch/share/cmake" "$tree/libtorch/share"
  (cd "$tree" && cmake -E tar cf "$zip" --format=zip -- libtorch)
  get_libtorch --cpu --archive "file://$zip" --sha256 "$(printf '0%.0s' {1..64})"
  [ "$status" -eq 1 ]
  [ ! -e "$folder/libtorch-9.8.7-cpu" ]
  get_libtorch --cpu --archive "file://$zip"
  [ "$status" -eq 0 ]
  [[ $output == *"$(sha256sum <"$zip" | cut -d ' ' -f 1)"* ]]
  [ -f "$folder/libtorch-9.8.7-cpu/torch/lib/libtorch.so" ]
  get_libtorch --cpu --dir "$folder/other" --archive "file:///nowhere.zip"
  [ "$status" -eq 1 ]
  [[ $output == *"no archive at file:///nowhere.zip"*"--cuda"* ]]
}

# hostile_archive ZIP {NAME TYPE LINK}…: a LibTorch with these members, too; the LINK of a file is ignored.
hostile_archive() {
  python3 - "$@" <<'PY'
import sys, zipfile
path, *words = sys.argv[1:]
with zipfile.ZipFile(path, "w") as archive:
    archive.writestr("libtorch/lib/libtorch.so", "")
    for name, kind, link in zip(*[iter(words)] * 3):
        member = zipfile.ZipInfo("x")
        member.filename = name.replace("\\n", "\n")
        member.create_system = 3  # Unix, whose modes follow
        member.external_attr = {"file": 0o100644, "link": 0o120777}[kind] << 16
        archive.writestr(member, link if kind == "link" else "owned")
PY
}

@test "--cpu: a hostile archive is refused and leaves nothing" {
  command -v python3 >/dev/null || skip "no python3 to make archives with"
  local hostile=$BATS_TEST_TMPDIR/hostile.zip away=$BATS_TEST_TMPDIR/away deep=$BATS_TEST_TMPDIR/a/b/c/d members
  mkdir "$away"
  for members in "../../owned file -" "libtorch/../../../owned file -" "/$away/owned file -" "../owned\\nx file -" \
    '..\..\owned file -' "libtorch/lnk link $away libtorch/lnk/owned file -" "libtorch/x link ../../../owned" \
    "libtorch/x\\n link $away"; do
    # shellcheck disable=SC2086 # names, types and destinations
    hostile_archive "$hostile" $members
    get_libtorch --cpu --dir "$deep" --archive "file://$hostile"
    [ "$status" -eq 1 ]
    [[ $output == *"found:    an archive with "*"expected: "*"do:       do not use it; "*"file://$hostile"* ]]
    [[ $output == *"with the path "* || $output == *"with a link or a device: "* ]]
    [ -z "$(ls -A "$deep")" ]
    [ -z "$(find "$BATS_TEST_TMPDIR" -name 'owned*')" ]
  done
  echo text >"$hostile"
  get_libtorch --cpu --dir "$deep" --archive "file://$hostile"
  [ "$status" -eq 1 ]
  [[ $output == *"libtorch.zip cannot be unpacked"* ]]
  [ -z "$(ls -A "$deep")" ]
}

@test "--dry-run prints the plan and changes nothing" {
  get_libtorch --dry-run
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 3 ]
  [[ $output == *"if this system has no libfakecuda.so.1"* ]]
  [ ! -e "$folder" ]
  [ ! -s "$calls" ]
}

@test "the lock that ships names a whole set of wheels" {
  run "$root/setup/get-libtorch" --dir "$folder" --dry-run
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "would download torch==2."* ]]
  [[ $output == *libnccl.so.2* && $output == *libcudnn.so.9* ]]
}

@test "usage" {
  run "$root/setup/get-libtorch" --help
  [ "$status" -eq 0 ]
  [[ $output == usage:* ]]
  echo "9.8.7 torch==9.8.7 1 short -" >"$BATS_TEST_TMPDIR/short"
  for wrong in "--nonsense" "--dir" "--timeout soon" "--lock /nowhere" "--lock $BATS_TEST_TMPDIR/short" \
    "--cpu --bundled" "--archive file:///a.zip" "--cpu --sha256 12"; do
    # shellcheck disable=SC2086 # an option and its value
    run "$root/setup/get-libtorch" $wrong
    [ "$status" -eq 2 ]
  done
}
