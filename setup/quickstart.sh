#!/usr/bin/env bash
# From a fresh checkout to the first runtime table: installs missing packages, builds trainer and runtable
# into build/, draws data if there are none, trains models of a task in the modes single, dp and ddp, and compares;
# then builds the other programs. Running it again repeats only the training. Under 5 minutes on 2 cores after the downloads.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=setup/lib/common.sh
. setup/lib/common.sh

usage() {
  cat <<'TEXT'
usage: bash setup/quickstart.sh [--task NAME] [--no-install]

From a fresh checkout to the first runtime table:
  1. installs missing packages with apt-get: a compiler, CMake, Open MPI,
     LibTorch, Boost, HDF5 and small libraries. Needs root or sudo; without
     either it prints the command for your administrator.
     setup/install.sh --for run --dry-run shows what it would install
  2. builds trainer and runtable into build/bin/
  3. draws data for the task unless they exist: 7,000 digits into data/mnist, in
     MNIST's format (bash setup/get-mnist downloads the real ones), or 6,000
     pictures into data/cifar10, in CIFAR's (bash setup/get-cifar). If a part of
     a download is there, it draws into data/digits or data/pictures
  4. trains small models of the task, one epoch each: one process, then DP
     and DDP on 2 devices. Each run leaves a folder in runs/
  5. compares all runs in runs/ in a table
  6. builds the other programs: hpcboot and hello_mpi

After the downloads it takes less than 5 minutes on 2 cores. Running it again
installs and draws nothing, builds what has changed, and repeats the training.

  --task NAME    mnist: mnistnet and ResNet50 on digits (default)
                 transformer: a small Transformer on computed sequences
                 cifar: ResNet18 and a small Vision Transformer on pictures
  --no-install   skip step 1; for machines where modules or CMAKE_PREFIX_PATH
                 provide the dependencies
  --help         this text

exit code: 0 all done, 2 usage, else that of the failed step; a
message names it and says what to do
TEXT
}

install=true
task=mnist
while [ $# -gt 0 ]; do
  case $1 in
    --no-install) install=false ;;
    --task)
      task=${2-}
      shift
      ;;
    --task=*) task=${1#--task=} ;;
    --help | -h)
      usage
      exit 0
      ;;
    *)
      printf "quickstart.sh: unknown argument '%s' (options: --task, --no-install, --help)\n" "$(printable "$1")" >&2
      exit 2
      ;;
  esac
  if [ $# -gt 0 ]; then shift; fi
done
case $task in
  mnist | transformer | cifar) ;;
  *)
    printf "quickstart.sh: --task takes mnist, transformer or cifar, not '%s'\n" "$(printable "$task")" >&2
    exit 2
    ;;
esac

# prepare_data FOLDER OTHER DOWNLOAD WHAT VERB OPTION…: sets $data to FOLDER, with the data that are there, or drawn by this
# verb of the trainer. If FOLDER has no complete data set, such as a part of a download, it stays as it is; $data is OTHER.
prepare_data() {
  local download=$3 what=$4 code=0
  data=$1
  if compgen -G "$data/*" >/dev/null; then
    build/bin/trainer inspect --images 0 "$data" >/dev/null 2>&1 || code=$?
    if [ "$code" -eq 40 ]; then # nothing, or not all files; any other error is one for the user, as it is in the training
      echo "==> $data is not a complete data set; if it is a part of a download, this finishes it: bash $download"
      data=$2
    fi
  fi
  if compgen -G "$data/*" >/dev/null; then
    echo "==> $data exists: using it"
  else
    step "drawing $what format into $data (bash $download downloads the real ones)" "make data/ writable" \
      build/bin/trainer "$5" "$data" "${@:6}"
  fi
}

# train_in_all_modes NAME OPTION…
train_in_all_modes() {
  local name=$1 remedy="see the message above; each run's folder in runs/ has a log per rank"
  shift
  step "$name, one process" "$remedy" train 1 --task "$task" "$@"
  step "$name, DP on 2 replicas in one process" "$remedy" train dp --task "$task" "$@"
  step "$name, DDP on 2 processes" "$remedy" train 2 --task "$task" "$@"
}

# train RANKS OPTION…: one process, or DDP on RANKS processes that share the cores of this machine; if RANKS
# is dp, one process with two replicas.
train() {
  local ranks=$1 threads
  shift
  if [ "$ranks" = dp ]; then
    build/bin/trainer --mode dp --runs-dir runs --comment quickstart "$@"
    return
  fi
  threads=$(($(nproc) / ranks))
  local -x OMP_NUM_THREADS=$((threads > 0 ? threads : 1))
  if [ "$ranks" -eq 1 ]; then
    build/bin/trainer --mode single --runs-dir runs --comment quickstart "$@"
  else
    mpirun "${mpi_options[@]}" -np "$ranks" \
      build/bin/trainer --mode ddp --runs-dir runs --comment quickstart "$@"
  fi
}

if $install; then
  step "installing missing packages" "see the messages above" bash setup/install.sh --for run
fi
require_own_build
if [ ! -e build/CMakeCache.txt ]; then
  # A user's compiler may have warnings that ours does not; they must not stop the build.
  configure_options=(-DHPCBOOT_BUILD_TESTS=OFF -DHPCBOOT_BUILD_BENCH=OFF -DHPCBOOT_WARNINGS_AS_ERRORS=OFF)
else
  configure_options=()
fi
step "configuring build/" "install what the summary above lists as missing" \
  configure "${configure_options[@]}"
step "building trainer and runtable with $(build_jobs) jobs" "see the first error above" \
  cmake --build build --parallel "$(build_jobs)" --target training
step "checking for the trainer" \
  "install what the summary of 'cmake build' lists as missing: LibTorch, OpenSSL, Boost, nlohmann_json, fmt, spdlog or zlib" \
  test -x build/bin/trainer

case $task in
  mnist) prepare_data data/mnist data/digits setup/get-mnist "7,000 digits in MNIST's" digits --train 6000 --test 1000 ;;
  cifar) prepare_data data/cifar10 data/pictures setup/get-cifar "6,000 pictures in CIFAR's" pictures --train 5000 --test 1000 ;;
esac

# By default Open MPI refuses root and more ranks than cores, and binds each of two ranks to one core;
# other MPIs do none of this and reject the options.
mpi_options=()
if mpirun --version 2>/dev/null | grep -q "Open MPI"; then
  mpi_options=(--bind-to none)
  if [ "$(nproc)" -lt 2 ]; then mpi_options+=(--oversubscribe); fi
  if [ "$(id -u)" -eq 0 ]; then mpi_options+=(--allow-run-as-root); fi
fi

case $task in
  mnist)
    train_in_all_modes mnistnet --data "$data" --model mnistnet --epochs 1 --batch-size 64 --image-size 28
    train_in_all_modes ResNet50 --data "$data" --model resnet50 --epochs 1 --batch-size 32 --image-size 64 --limit-samples 128
    ;;
  transformer)
    train_in_all_modes "small Transformer" --model transformer_small --data sequences:1200x1x20x64 \
      --epochs 1 --batch-size 32
    ;;
  cifar)
    train_in_all_modes ResNet18 --data "$data" --model resnet18 --epochs 1 --batch-size 64 --image-size 32 \
      --limit-samples 2000 --lr 1e-3
    train_in_all_modes "small Vision Transformer" --data "$data" --model vit_ti_16 --epochs 1 --batch-size 64 --image-size 64 \
      --limit-samples 1000 --lr 5e-4
    ;;
esac
step "the runtime table" "see the messages above" build/bin/runtable runs
echo "==> from the start to the table: $SECONDS s"
step "building the other programs with $(build_jobs) jobs" "see the first error above" \
  cmake --build build --parallel "$(build_jobs)"
echo "==> all done in $SECONDS s. Next: README.md, build/bin/hpcboot --help, build/bin/trainer --help"
