# Records of runs, made for tests of runtable.
# shellcheck shell=bash

# make_run NAME MODE DEVICES RUNTIME [SAMPLES [CHANGE]]: a finished run in ./made; CHANGE is Python that changes `run`.
make_run() {
  python3 - "$RUNS/20261120_090000_single_1x1/run.json" "$@" <<'TEXT'
import copy, json, os, sys
source, name, mode, devices, runtime, samples, change = (sys.argv[1:] + ["", ""])[:7]
run = json.load(open(source))
run.update(run=name, nodes=1, devices_per_node=int(devices))
run["config"]["mode"] = mode
run["totals"]["runtime_seconds"] = float(runtime)
if samples: run["train_samples"] = int(samples)
run["ranks"] = [copy.deepcopy(run["ranks"][0]) for _ in range(int(devices) if mode == "ddp" else 1)]
run["epochs"] = [dict(epoch=e, steps=10, train_loss=1 / e, validation_loss=2 / e, validation_accuracy=1 - 0.5 / e,
                      train_seconds=1.0, data_wait_seconds=0.1, forward_seconds=0.2, backward_seconds=0.4,
                      communication_seconds=0.1, optimizer_seconds=0.1) for e in (1, 2)]
exec(change)
os.makedirs("made/" + name.replace("/", "_"))
json.dump(run, open("made/" + name.replace("/", "_") + "/run.json", "w"))
TEXT
}

# make_monitor RUN: monitor.csv with two ranks on GPUs.
make_monitor() {
  {
    echo seconds,epoch,epoch_seconds,step,rank,host,device,gpu_load_percent,gpu_memory_bytes,gpu_temperature_celsius
    for i in 1 2 3 4 5 6; do echo "$i,1,$i,$i,0,n1,cuda:0,$((80 + i)),$((i * 1000000000)),$((50 + i % 3))"; done
    for i in 1 2 3 4 5 6; do echo "$i,1,$i,$i,1,n2,cuda:0,$((70 + i)),$((i * 1000000000)),$((60 + i % 2))"; done
  } >"$1/monitor.csv"
}
