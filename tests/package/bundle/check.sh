#!/usr/bin/env bash
# Usage: check.sh BUILD LIBTORCH. Builds the target bundle, moves a copy into a folder that has glibc and the
# libraries of LibTorch, and nothing else, and runs the programs there, confined to that folder.
set -euo pipefail
build=$1 libtorch=$2
skip() {
  echo "SKIPPED: $1"
  exit 77
}
cmake --build "$build" --target help | grep -w bundle >/dev/null || skip "no patchelf was found at configure time"
namespaces=(--mount)
[ "$(id -u)" -eq 0 ] || namespaces+=(--map-root-user)
# within ROOT COMMAND…: with /dev, and /proc, through which the loader finds a program's own folder.
within() {
  # shellcheck disable=SC2016
  unshare "${namespaces[@]}" bash -c '
    mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$@"' - "$@"
}
within / true 2>/dev/null || skip "this user may not make a mount namespace"
cmake --build "$build" --target bundle

root=$(mktemp -d)
trap 'rm -rf -- "$root"' EXIT
# As in a build without LibTorch.
cmake "-DPROGRAMS=$build/bin/hpcboot;$build/bin/runtable" -DBUNDLE="$root/small" -DPATCHELF=patchelf -DSTRIP=strip \
  -P "$(dirname "$0")/../../../cmake/HpcbootBundle.cmake"
"$root/small/bin/hpcboot" --version
mkdir -p "$root/dev" "$root/proc" "$root/tmp" "$root/work"
cp -a "$build/bundle" "$root/moved"

part=$build/libexec/hpcboot/trainer # with LibTorch

# copy FILE…: at the same paths; as links if possible, since those of CUDA take gigabytes.
copy() {
  local file
  for file; do
    [ -e "$root$file" ] || cp -lL --parents -t "$root" "$file" 2>/dev/null || cp -L --parents -t "$root" "$file"
  done
}

# copy_libraries PATTERN FILE…: of the libraries that these files need, those whose path matches, at the same paths.
copy_libraries() {
  local wanted=$1
  shift
  mapfile -t libraries < <(ldd "$@" | grep -oE '/[^ :]+\.so[^ :]*' | sort -u | grep -E "$wanted")
  copy "${libraries[@]}"
}
copy_libraries '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv))\.so' "$build/bin/hpcboot" "$part"

# A module's folder with another library of the same name.
mkdir "$root/module"
echo "not a library" >"$root/module/libfmt.so.9"
export LD_LIBRARY_PATH=/module
for program in hpcboot runtable trainer; do within "$root" "/moved/bin/$program" --version; done
within "$root" /moved/bin/hpcboot show | grep '^world_size  *1 '

if within "$root" /moved/libexec/hpcboot/trainer --help 2>/dev/null; then
  echo "trainer runs without LibTorch: which one has it found?" >&2
  exit 1
fi
mapfile -t of_torch < <(ldd "$part" | grep -oE '/[^ ]+/lib(torch|c10)[^ /]*\.so[^ ]*')
copy "${of_torch[@]}"
copy_libraries . "${of_torch[@]}"
ln -s "$libtorch" "$root/moved/torch"
# CUDA's toolkit may be in a folder of its own, as a module has it.
LD_LIBRARY_PATH+=:$(for library in "${libraries[@]}"; do dirname "$library"; done | sort -u | paste -sd:)
within "$root" /moved/bin/trainer --data synthetic:64x1x28x28 --model mnistnet --image-size 28 --runs-dir /work/runs
within "$root" /moved/bin/runtable /work/runs
echo "the bundle runs from another folder, with glibc and LibTorch alone"
