#!/usr/bin/env bash
# Usage: tensorboard_venv.sh PYTHON FOLDER. Creates a Python environment with PyPI's tensorboard, once.
# Exit code 77 if that is impossible: no network, no venv.
set -euo pipefail
python=${1:?} folder=${2:?}
if "$folder/bin/python" -c 'import tensorboard.backend.event_processing.event_accumulator' 2>/dev/null; then
  echo "tensorboard is installed"
  exit 0
fi
if ! "$python" -m venv --clear "$folder" || ! "$folder/bin/python" -m pip install -q tensorboard 'setuptools<80'; then
  rm -rf "$folder"
  echo "SKIPPED: tensorboard cannot be installed from PyPI here"
  exit 77
fi
"$folder/bin/python" -c 'import tensorboard.backend.event_processing.event_accumulator'
