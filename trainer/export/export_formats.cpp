#include "export/export_formats.hpp"

namespace hpcboot::exports {

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats {
    {"csv", "one table, a row for each run, columns as in run.json", "", "", csv_exporter},
        {"mlflow", "MLflow's folder of files, one experiment", "mlruns",
         "MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri DIR", mlflow_exporter},
#if HPCBOOT_WITH_TENSORBOARD
        {"wandb-offline", "Weights & Biases' offline runs", "wandb", "wandb sync DIR/offline-run-*",
         wandb_exporter},
        {"tensorboard-hparams", "events for TensorBoard's tab HParams", "hparams",
         "tensorboard --logdir DIR", hparams_exporter},
#endif
  };
  return formats;
}

}  // namespace hpcboot::exports
