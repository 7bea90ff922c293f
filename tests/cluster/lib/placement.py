#!/usr/bin/env python3
"""The expected placement of ranks in each form of lib/launch.sh, and a check of it.

A form is defined by its layout, the host of every rank in order; the rest follows from it. "nodes" is set if
nodes are not in the order of their first ranks, "nodes_known" if the environment shows the launcher but not
the hosts.

  placement.py forms                  lists the forms
  placement.py options FORM           options of `cluster up` that FORM needs
  placement.py check FORM DIR         DIR contains `hpcboot show --json` of every rank in files HOST.PID
  placement.py golden FORM DIR CASE   DIR contains `env -0` of every rank in files HOST.PID: writes them to
                                      the folder CASE as a golden case
"""

import json
import pathlib
import re
import sys

TWO_BY_TWO = ["n1", "n1", "n2", "n2"]
SLURM = {"layout": TWO_BY_TWO, "launcher": "slurm", "scheduler": "slurm", "variable": "SLURM_PROCID"}
OPENMPI = {"layout": TWO_BY_TWO, "launcher": "openmpi", "variable": "OMPI_COMM_WORLD_RANK"}
HYDRA = {"layout": TWO_BY_TWO, "launcher": "hydra", "variable": "PMI_RANK"}
TORCHRUN = {"layout": TWO_BY_TWO, "launcher": "torchrun", "variable": "RANK"}
# No launcher placed the process: it is rank 0 of 1, and the hosts are the allocation's.
SINGLE = {"launcher": "single", "scheduler": "slurm", "hosts": ["n1", "n2"], "variable": None}

FORMS = {
    "srun_none_2x2": SLURM,
    "srun_pmi2_2x2": SLURM,
    "srun_pmix_2x2": SLURM,
    "srun_cyclic_2x2": {**SLURM, "layout": ["n1", "n2", "n1", "n2"]},
    "srun_plane": {**SLURM, "layout": ["n1", "n1", "n2", "n2", "n1", "n1"]},
    # Slurm 22.05 does not pass the list that the ranks follow to the tasks.
    "srun_arbitrary": {**SLURM, "layout": ["n2", "n1", "n2"], "nodes": ["n1", "n2"], "master": None},
    "srun_uneven": {**SLURM, "layout": ["n1", "n1", "n2"]},
    "srun_het_joint": {**SLURM, "layout": ["n1", "n2", "n2"]},
    "srun_het_reversed": {**SLURM, "layout": ["n2", "n1", "n1"]},
    "salloc_het_joint": {**SLURM, "layout": ["n1", "n2", "n2"]},
    "salloc_het_second": {**SLURM, "layout": ["n2", "n2"]},
    "salloc_srun_one_task": {**SLURM, "layout": ["n1"]},
    "salloc_srun_second_node": {**SLURM, "layout": ["n2", "n2"]},
    "salloc_srun_preserve_env": {**SLURM, "layout": ["n2", "n2"]},
    "srun_gpus_per_task": {**SLURM, "devices": [0, 0, 0, 0]},  # each task sees its own device only
    "srun_gpu_bind_single": {**SLURM, "devices": [0, 0, 0, 0]},
    "srun_gres_two": {**SLURM, "devices": [0, 1, 0, 1]},
    "srun_gpus_shared": {**SLURM, "layout": 3 * ["n1"] + 3 * ["n2"], "devices": [0, 1, 0, 0, 1, 0]},
    "sbatch_batch_step": {**SINGLE, "layout": ["n1"]},
    "sbatch_srun_2x2": SLURM,
    "sbatch_mpirun_2x2": {**OPENMPI, "scheduler": "slurm"},
    "sbatch_mpirun_one_rank": {**OPENMPI, "scheduler": "slurm", "layout": ["n1"]},
    "sbatch_mpirun_one_host": {**OPENMPI, "scheduler": "slurm", "layout": ["n1", "n1"]},
    "sbatch_mpirun_by_node": {**OPENMPI, "scheduler": "slurm", "layout": ["n1", "n2", "n1", "n2"]},
    # A rankfile can put any rank on any host: what a rank sees says nothing about the others.
    "sbatch_mpirun_rankfile":
        {**OPENMPI, "scheduler": "slurm", "layout": ["n2", "n1", "n1", "n2"], "nodes_known": False},
    "sbatch_hydra_2x2": {**HYDRA, "scheduler": "slurm"},
    "sbatch_array_task": {**SLURM, "layout": ["n1", "n1"]},
    "sbatch_array_requeued": {**SLURM, "layout": ["n1", "n1"]},
    "sbatch_requeued": SLURM,
    "salloc_shell": {**SINGLE, "layout": ["n0"]},
    "salloc_interactive_step": {**SINGLE, "layout": ["n1"]},
    "salloc_interactive_mpirun": {**OPENMPI, "scheduler": "slurm"},
    # Nothing in the environment shows these ranks how many hosts there are, or which.
    "ssh_mpirun_2x2": {**OPENMPI, "nodes_known": False},
    "ssh_mpirun_uneven": {**OPENMPI, "nodes_known": False, "layout": ["n2", "n1", "n1"]},
    "ssh_hydra_2x2": {**HYDRA, "nodes_known": False},
    "ssh_hydra_uneven": {**HYDRA, "nodes_known": False, "layout": ["n2", "n1", "n1"]},
    "ssh_hydra_ppn": {**HYDRA, "nodes_known": False, "layout": ["n1", "n2", "n1", "n2"]},
    "torchrun_alone": {**TORCHRUN, "layout": ["n0", "n0"]},
    "srun_torchrun": {**TORCHRUN, "scheduler": "slurm"},
    # The innermost launcher is srun; what mpirun or Hydra set was inherited.
    "srun_in_mpirun": {**SLURM, "layout": ["n1", "n2"], "facts": True},
    "srun_pmix_in_mpirun": {**SLURM, "layout": ["n1", "n2"]},
    "srun_in_hydra": {**SLURM, "layout": ["n1", "n2"], "facts": True},
    "srun_pmi2_in_hydra": {**SLURM, "layout": ["n1", "n2"], "facts": True},
    "mpirun_in_srun_pty": {**OPENMPI, "scheduler": "slurm", "layout": ["n1", "n1"]},
    # PBS_JOBID beside Slurm's own variables means Slurm.
    "sbatch_srun_pbs_names": {**SLURM, "options": ["--spank-pbs"]},
    "sbatch_batch_step_pbs_names": {**SINGLE, "layout": ["n1"], "options": ["--spank-pbs"]},
    "qsub_srun": {**SLURM, "layout": ["n1", "n2"], "options": ["--spank-pbs"]},
}

# Names of variables that concern the launch; all others are left out of a golden case.
RELATED = re.compile(
    r"SLURM|PMI|OMPI|PRTE|HYDRA|MPI_|PALS|PBS|CUDA|ROCR|ZE_|GPU|HOSTNAME|MASTER_|RANK|WORLD|TORCHELASTIC|^ENVIRONMENT$")
SECRET = re.compile(r"SECRET|COOKIE|TOKEN|_KEY|PASS")


def expected(form):
    """Rank -> what `hpcboot show --json` must say there."""
    facts = FORMS[form]
    layout = facts["layout"]
    nodes = facts.get("nodes", list(dict.fromkeys(layout)))
    known = facts.get("nodes_known", True)
    ranks = {}
    for rank, host in enumerate(layout):
        ranks[rank] = {
            "rank": rank,
            "world_size": len(layout),
            "local_rank": layout[:rank].count(host),
            "local_size": layout.count(host),
            "node_rank": nodes.index(host) if known else None,
            "num_nodes": len(nodes) if known else None,
            "master_addr": facts.get("master", facts.get("hosts", layout)[0] if known else None),
            "launcher": facts["launcher"],
            "scheduler": facts.get("scheduler"),
            "hosts": facts.get("hosts", nodes) if known else None,
        }
        if "devices" in facts:
            ranks[rank]["device"] = facts["devices"][rank]
    return ranks


def recordings(directory):
    """(host, process id, content) of every file that record.sh wrote."""
    files = [path for path in sorted(pathlib.Path(directory).iterdir()) if re.fullmatch(r"n\d+\.\d+", path.name)]
    return [(*path.name.split("."), path.read_text()) for path in files]


def check(form, directory):
    """Yields the problems."""
    want = expected(form)
    seen = []
    endpoints = set()
    for host, _, text in recordings(directory):
        try:
            shown = json.loads(text)
        except ValueError:
            yield f"on {host}: not JSON: {text!r}"
            continue
        rank = shown.get("rank")
        seen.append(rank)
        if rank not in want:
            yield f"on {host}: rank {rank} does not exist"
            continue
        if host != FORMS[form]["layout"][rank]:
            yield f"rank {rank} runs on {host}, must be {FORMS[form]['layout'][rank]}"
        endpoints.add((shown["master_addr"], shown["master_port"]))
        for field, value in {**want[rank], "interface": "eth0"}.items():
            if field not in shown or shown[field] != value:
                yield f"rank {rank} on {host}: {field} is {shown.get(field)!r}, must be {value!r}"
    if len(endpoints) > 1:
        yield f"ranks disagree on the endpoint: {sorted(endpoints)}"
    if sorted(seen, key=str) != sorted(want):
        yield f"ranks seen {sorted(seen, key=str)}, must be {sorted(want)}"


def golden(form, directory, case):
    """Writes the recordings as a golden case; refuses those that do not match the form's layout."""
    facts = FORMS[form]
    case = pathlib.Path(case)
    case.mkdir(parents=True, exist_ok=True)
    seen = []
    for host, pid, text in recordings(directory):
        pairs = dict(item.split("=", 1) for item in text.split("\0") if "=" in item and "\n" not in item)
        rank = int(pairs[facts["variable"]]) if facts["variable"] else 0
        seen.append((rank, host))
        lines = []
        for name in sorted(filter(RELATED.search, pairs)):
            value = "REDACTED" if SECRET.search(name) else pairs[name]
            lines.append(f"{name}={re.sub(r'/[^ :]*/(home|shared)/', r'/' + chr(92) + r'1/', value)}\n")
        (case / f"rank{rank}.env").write_text("".join(lines))
        if facts.get("facts"):
            known = {"is_slurm_task": pairs["SLURM_TASK_PID"] == pid}
            (case / f"rank{rank}.facts.json").write_text(json.dumps(known) + "\n")
        (case / f"rank{rank}.hostname").write_text(host + "\n")
    if sorted(seen) != list(enumerate(facts["layout"])):
        sys.exit(f"{form}: (rank, host) seen {sorted(seen)}, must be {list(enumerate(facts['layout']))}")
    (case / "expected.json").write_text(json.dumps({"ranks": expected(form)}, indent=2) + "\n")


def main():
    verb, *words = sys.argv[1:] or ["--help"]
    if verb == "forms":
        print(*FORMS, sep="\n")
    elif verb == "options" and len(words) == 1:
        print(*FORMS[words[0]].get("options", []), sep="\n", end="")
    elif verb == "check" and len(words) == 2:
        wrong = list(check(*words))
        print(*wrong, sep="\n", end="\n" if wrong else "")
        sys.exit(1 if wrong else 0)
    elif verb == "golden" and len(words) == 3:
        golden(*words)
    else:
        sys.exit(__doc__)


main()
