"""Usage: read_exports.py mlflow|wandb|hparams FOLDER: prints as JSON, by run, what that tool itself reads in a folder that
`runtable export` has written: `params`, `metrics` (the last values), and `history` (points of step/loss)."""
import glob
import json
import os
import subprocess
import sys
import time
import urllib.request


def mlflow(folder):
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    from mlflow.tracking import MlflowClient
    client = MlflowClient(tracking_uri=f"file://{os.path.abspath(folder)}")
    runs = {}
    for experiment in client.search_experiments():
        for run in client.search_runs([experiment.experiment_id]):
            history = [(point.step, point.value) for point in client.get_metric_history(run.info.run_id, "step/loss")]
            runs[run.info.run_name] = dict(
                experiment=experiment.name, status=run.info.status, seconds=(run.info.end_time - run.info.start_time) / 1e3,
                params=run.data.params, metrics=run.data.metrics, history=history, artifacts=run.info.artifact_uri)
    return runs


def wandb(folder):
    from wandb.proto import wandb_internal_pb2
    from wandb.sdk.internal.datastore import DataStore
    runs = {}
    for file in sorted(glob.glob(f"{folder}/offline-run-*/run-*.wandb")):
        store = DataStore()
        store.open_for_scan(file)
        run = dict(params={}, metrics={}, history=[], kinds=[])
        while (data := store.scan_data()) is not None:
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            kind = record.WhichOneof("record_type")
            if kind != "history":
                run["kinds"].append(kind)
            if kind == "run":
                run.update(project=record.run.project, id=record.run.run_id, name=record.run.display_name)
                run["params"] = {item.key: json.loads(item.value_json) for item in record.run.config.update}
            if kind == "history":
                values = {item.key: json.loads(item.value_json) for item in record.history.item}
                assert values["_step"] == record.history.step.num, values
                run["metrics"].update(values)
                if "step/loss" in values:
                    run["history"].append((values["_step"], values["step/loss"]))
            if kind == "summary":
                run["summary"] = {item.key: json.loads(item.value_json) for item in record.summary.update}
        runs[run["name"]] = run
    return runs


def hparams(folder):
    """As the tab HParams asks TensorBoard's server."""
    server = subprocess.Popen([sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--port", "0", "--load_fast=false"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = next(word for line in server.stdout for word in line.split() if word.startswith("http://localhost"))

        def ask(what, **body):
            request = urllib.request.Request(f"{address}data/plugin/hparams/{what}", json.dumps(body).encode(),
                                             {"Content-Type": "application/json"})
            return json.load(urllib.request.urlopen(request))

        for _ in range(60):
            experiment = ask("experiment", experimentName="")
            metrics = [info["name"] for info in experiment["metricInfos"]]
            answer = ask("session_groups", experimentName="", startIndex=0, sliceSize=1000, allowedStatuses=[
                f"STATUS_{name}" for name in ("UNKNOWN", "SUCCESS", "FAILURE", "RUNNING")],
                colParams=[dict(metric=name) for name in metrics])
            if answer["sessionGroups"]:
                break
            time.sleep(0.5)
        runs = {}
        for group in answer["sessionGroups"]:
            for session in group["sessions"]:
                runs[session["name"]] = dict(params=group["hparams"], status=session["status"], metrics={
                    one["name"]["tag"]: one["value"] for one in session.get("metricValues", [])})
        return runs
    finally:
        server.terminate()
        server.wait()


print(json.dumps(dict(mlflow=mlflow, wandb=wandb, hparams=hparams)[sys.argv[1]](sys.argv[2])))
