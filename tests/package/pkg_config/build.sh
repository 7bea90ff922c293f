#!/usr/bin/env bash
# build.sh PREFIX FOLDER CC: builds the C program of ../c with pkg-config, without CMake, and runs it.
set -euo pipefail
prefix=$1 folder=$2 cc=$3
if ! command -v pkg-config >/dev/null; then
  echo "SKIPPED: no pkg-config on this machine"
  exit 77
fi
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name hpcboot.pc)")
export PKG_CONFIG_PATH
mkdir -p "$folder"
read -ra flags <<<"$(pkg-config --cflags --libs --static hpcboot)"
[[ " ${flags[*]} " == *" -pthread "* ]]
"$cc" -std=c99 -pedantic -Wall -Wextra -Werror "$(dirname "$0")/../c/main.c" "${flags[@]}" -o "$folder/consumer"
"$folder/consumer" | grep -F "hpcboot $(pkg-config --modversion hpcboot): rank"
[ -f "$(pkg-config --variable=fortran_source hpcboot)" ]
