# The steps of get-libtorch: the requested $version and $flavour, into $target.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# shellcheck source=setup/lib/archive.sh
. "${BASH_SOURCE[0]%/*}/archive.sh"

# Tags of the wheels that a recent system accepts; passed to pip, so that every pip and Python
# choose exactly the wheels whose sums are known.
wheel_tags=(--python-version 3.11 --implementation cp --abi cp311 --abi none
  --platform manylinux2014_x86_64)
for glibc in {17..28}; do wheel_tags+=(--platform "manylinux_2_${glibc}_x86_64"); done

# Reads the lines of the lock into $lock_lines, without comments and blank lines.
read_lock() {
  mapfile -t lock_lines < <(grep -v '^[[:space:]]*\(#\|$\)' "$lock")
  local line
  for line in "${lock_lines[@]}"; do
    [[ $line =~ ^[0-9.]+\ +[A-Za-z0-9][^\ ]*==[^\ ]+\ +[0-9]+\ +[0-9a-f]{64}\ +[^\ ]+$ ]] ||
      usage_error "'$lock' has a line that is not 'VERSION NAME==VERSION MB SHA-256 LIBRARIES': $line"
  done
}

known_versions() {
  local line
  for line in "${lock_lines[@]}"; do echo "${line%% *}"; done | sort -uV
}

# wheels: those of $version, one per line: REQUIREMENT MB SHA-256 LIBRARIES
wheels() {
  local of requirement megabytes sum libraries
  for line in "${lock_lines[@]}"; do
    read -r of requirement megabytes sum libraries <<<"$line"
    if [ "$of" = "$version" ]; then echo "$requirement $megabytes $sum $libraries"; fi
  done
}

archive_url() {
  echo "${archive:-https://download.pytorch.org/libtorch/cpu/libtorch-shared-with-deps-$version%2Bcpu.zip}"
}

print_plan() {
  local requirement megabytes sum libraries
  if [ "$flavour" = cpu ]; then
    if [ ! -e "$target" ]; then tell "would download $(shown_url "$(archive_url)") into $target"; fi
  else
    while read -r requirement megabytes sum libraries; do
      if [[ $requirement == torch==* ]]; then
        if [ -e "$target" ]; then continue; fi
        tell "would download $requirement ($megabytes MB, SHA-256 $sum) into $target"
      elif $bundled; then
        tell "would download $requirement ($megabytes MB, SHA-256 $sum)"
      else
        tell "would download $requirement ($megabytes MB, SHA-256 $sum) if this system has no ${libraries//,/ or no }"
      fi
    done < <(wheels)
  fi
  if [ -e "$target" ]; then tell "$target already exists"; fi
}

# need_space MEGABYTES: for a download of this size, which is unpacked beside it.
need_space() {
  local free
  free=$(df -Pm "$folder" | awk 'NR == 2 { print $4 }')
  [ "$free" -ge $((3 * $1)) ] || fail "$free MB free in $folder" "$((3 * $1)) MB for a download of $1 MB, unpacked" \
    "make room, or choose another --dir"
}

seconds_left() {
  [ "$SECONDS" -lt "$timeout" ] || fail "not done after $timeout seconds" "all downloads within this time" \
    "run this again: finished downloads are kept; --timeout allows more time"
  echo $((timeout - SECONDS))
}

# require_sum FILE SHA-256
require_sum() {
  local sum
  sum=$(sha256sum <"$1" | cut -d ' ' -f 1)
  [ "$sum" = "$2" ] || fail "$(basename "$1") with the SHA-256 sum $sum" "$2" \
    "do not use it; check its origin (pip config list), and report it if that is PyPI"
}

# download_wheel REQUIREMENT MEGABYTES SHA-256: leaves it in $work/wheel.
download_wheel() {
  fetch_wheel "$1" "$2"
  require_sum "$work/wheel"/*.whl "$3"
}

# fetch_wheel REQUIREMENT MEGABYTES: the same, without checking the sum.
fetch_wheel() {
  local requirement=$1 pip code=0 left
  pip=$(command -v pip3 || command -v pip) ||
    fail "no pip" "pip, for the download only" "install python3-pip, or use pytorch.org's archive with --cpu"
  need_space "$2"
  left=$(seconds_left)
  rm -rf "$work/wheel"
  say "$requirement, $2 MB"
  timeout "$left" "$pip" --disable-pip-version-check download --quiet --no-deps --only-binary=:all: \
    --retries 2 "${wheel_tags[@]}" --dest "$work/wheel" "$requirement" >"$work/pip.log" 2>&1 || code=$?
  if [ "$code" -eq 124 ]; then SECONDS=$timeout seconds_left; fi
  if [ "$code" -ne 0 ]; then
    fail "pip could not download $requirement ($(grep -v '^ *$' "$work/pip.log" | tail -n 1))" \
      "PyPI, or a mirror or folder from pip's settings, that has it" \
      "check the network, the proxy and pip config list; full output: $(keep_log)"
  fi
}

# keep_log: copies pip's output to a file that outlives this script.
keep_log() {
  cp "$work/pip.log" "$folder/$program.log"
  echo "$folder/$program.log"
}

# unpack ZIP FOLDER [MEMBER…]
unpack() {
  mkdir -p "$2"
  (cd "$2" && cmake -E tar xf "$1" --format=zip -- "${@:3}") >"$work/unpack.log" 2>&1 || fail_unpacking "$1"
}

fail_unpacking() { # ZIP
  fail "$(basename "$1") cannot be unpacked ($(tail -n 1 "$work/unpack.log"))" \
    "a complete zip file and enough space for it" "run this again"
}

# unpack_wheel NAME…: those of the lock with these names. Each is moved into place when it is complete.
unpack_wheel() {
  local requirement megabytes sum libraries
  while read -r requirement megabytes sum libraries <&3; do
    if [[ " $* " != *" ${requirement%%==*} "* ]]; then continue; fi
    download_wheel "$requirement" "$megabytes" "$sum"
    if [ "${requirement%%==*}" = torch ]; then
      unpack "$(echo "$work/wheel"/*.whl)" "$work/new" torch/include torch/lib torch/share "torch-$version.dist-info"
      rm -f "$work/new/torch/lib/libtorch_python.so"
      mv -T "$work/new" "$target"
    else
      unpack "$(echo "$work/wheel"/*.whl)" "$work/new"
      move_in
    fi
    rm -rf "$work/wheel" "$work/new"
  done 3< <(wheels)
}

# move_in: moves an NVIDIA wheel's files from $work/new into $target, into folders that it shares with other wheels. Its
# description (NAME-VERSION.dist-info) comes last and says that nothing is missing: see is_unpacked.
move_in() {
  local path
  while IFS= read -r -d '' path; do
    mkdir -p "$target/${path%/*}"
    mv -fT "$work/new/$path" "$target/$path"
  done < <(
    cd "$work/new" &&
      find . ! -type d ! -path './*.dist-info/*' -print0 &&
      find . ! -type d -path './*.dist-info/*' -print0
  )
}

# is_unpacked NAME: all of NVIDIA's wheel of this name is in $target. Its description may spell the name with _, and is
# the last file of a wheel, so a wheel whose unpacking was interrupted has none.
is_unpacked() {
  local name=${1//[-.]/_} found
  for found in "$target"/*.dist-info; do
    found=${found##*/}
    found=${found%%-*}
    found=${found//./_}
    if [ "${found,,}" = "${name,,}" ]; then return 0; fi
  done
  return 1
}

# check_archive ZIP: of unknown origin, as it may have no known sum. pytorch.org's has files and folders only.
check_archive() {
  { cmake -E tar tf "$1" >"$work/paths" && cmake -E tar tvf "$1" >"$work/types"; } 2>"$work/unpack.log" ||
    fail_unpacking "$1"
  require_safe_members "$work/paths" "$work/types"
}

refuse_archive() {
  fail "an archive with $1" "$2" "do not use it; check its origin: $(shown_url "$(archive_url)")"
}

unpack_archive() {
  local url shown words left code=0
  command -v curl >/dev/null || fail "no curl on this machine" "the program curl" "run bash setup/install.sh"
  url=$(archive_url)
  shown=$(shown_url "$url")
  need_space 250
  left=$(seconds_left)
  say "$shown"
  words=$(curl --fail --location --silent --show-error --connect-timeout 20 --max-time "$left" \
    --output "$work/libtorch.zip" "$url" 2>&1) || code=$?
  [ "$code" -eq 0 ] || fail "no archive at $shown ($(tail -n 1 <<<"${words//"$url"/"$shown"}"))" "a LibTorch without CUDA" \
    "check the network, use another --archive URL, or use PyPI's build, which also runs without a GPU: --cuda"
  if [ -n "$archive_sum" ]; then
    require_sum "$work/libtorch.zip" "$archive_sum"
  else
    say "its SHA-256 sum, for --sha256 next time: $(sha256sum <"$work/libtorch.zip" | cut -d ' ' -f 1)"
  fi
  check_archive "$work/libtorch.zip"
  unpack "$work/libtorch.zip" "$work/new"
  [ -d "$work/new/libtorch/lib" ] || fail "an archive without a folder libtorch/lib" "LibTorch's zip" "check --archive"
  mv "$work/new/libtorch" "$work/new/torch"
  mv -T "$work/new" "$target"
}

# The loader's report: the missing dependencies of each library, "unloadable: LIBRARY" if the loader ends without one, and
# the undefined symbols of all together. libcuda comes with the driver, so it is ignored here.
loader_report() {
  local library dependencies
  for library in "$prefix"/lib/*.so; do
    dependencies=$(ldd "$library" 2>&1) || echo "unloadable: ${library##*/}"
    grep -v 'libcuda\.so\.1' <<<"$dependencies" || true
  done
  ldd -r "$prefix/lib/libtorch.so" 2>&1 || true
}

# The names of the wheels to unpack: those of which only a part was unpacked; with --bundled, all of NVIDIA's that are not
# unpacked yet, otherwise those whose libraries this system lacks, or has without a symbol that LibTorch needs (CUDA's
# names begin with their library's: ncclCommGrow is of libnccl).
wheels_to_add() {
  local requirement megabytes sum libraries library absent undefined report name
  report=$(loader_report)
  absent=$(sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' <<<"$report")
  undefined=$(sed -n 's/^undefined symbol: *\([A-Za-z0-9_]*\).*/\1/p' <<<"$report")
  while read -r requirement megabytes sum libraries; do
    name=${requirement%%==*}
    for library in ${libraries//,/ }; do
      if [ "$library" = - ]; then continue; fi
      if compgen -G "$target/nvidia/*/lib/$library" >/dev/null; then
        if ! is_unpacked "$name"; then echo "$name"; fi
      elif $bundled || grep -qxF "$library" <<<"$absent" || grep -qi "^$(stem_of "$library")" <<<"$undefined"; then
        echo "$name"
      fi
    done
  done < <(wheels) | sort -u
}

# stem_of LIBRARY: libnccl.so.2 is nccl
stem_of() {
  local stem=${1%%.so.*}
  echo "${stem#lib}"
}

# NVIDIA's libraries depend on one another, so this repeats until nothing new is missing.
add_cuda_libraries() {
  local names before=
  while true; do
    mapfile -t names < <(wheels_to_add)
    if [ ${#names[@]} -eq 0 ] || [ "${names[*]}" = "$before" ]; then return; fi
    before=${names[*]}
    unpack_wheel "${names[@]}"
  done
}

# Fails unless the installed version is the requested one, and loads.
check_libtorch() {
  local found report
  found=$(sed -n 's/^set(PACKAGE_VERSION "\([0-9.]*\).*/\1/p' "$prefix/share/cmake/Torch/TorchConfigVersion.cmake" \
    2>/dev/null || true)
  [ "$found" = "$version" ] ||
    fail "LibTorch '${found:-none}' in $target" "$version" "remove that folder and run this again"
  report=$(loader_report)
  if grep -q 'not found' <<<"$report"; then
    report=$(grep 'not found' <<<"$report" | sed 's/^[[:space:]]*//' | sort -u)
    fail "libraries that do not load: $(head -n 5 <<<"$report" | paste -sd ';')" "all of LibTorch to load" \
      "use NVIDIA's wheels with --bundled; if the C library is too old, load your site's module"
  fi
  if grep -q '^unloadable: ' <<<"$report"; then
    report=$(sed -n 's/^unloadable: //p' <<<"$report")
    fail "libraries that ldd cannot load, such as damaged ones or ones that need them: $(head -n 5 <<<"$report" | paste -sd ';')" \
      "all of LibTorch to load" "remove $target and run this again"
  fi
  if grep -q '^undefined symbol' <<<"$report"; then
    fail "$(grep '^undefined symbol' <<<"$report" | sort -u | head -n 3 | paste -sd ';')" \
      "this system's CUDA libraries to be recent enough" "use NVIDIA's wheels with --bundled"
  fi
  if grep -q 'libpython' <<<"$report"; then
    fail "libraries that need Python" "a LibTorch that runs without Python" "remove $target and run this again"
  fi
}
