"""The layouts that tests/cluster/matrix tries: how each is launched, and the expected ranks and worlds.

A command is bash; "$@" is what each rank runs. $mpirun is the launcher of the column, $host its option for one host,
$mpi Slurm's name of the interface that its MPI uses, torchrun PyTorch's agent, batch submits a job with sbatch and waits
for it (lib/batch.sh), hosts writes a host list for Hydra. mpiexec.hydra and mpirun.openmpi are the system's.
"""

import dataclasses

ONE_HOST = [["n1"]]
PAIR = [["n1", "n1"]]
TWO_BY_TWO = [["n1", "n1", "n2", "n2"]]
ACROSS = [["n1", "n2"]]
CYCLIC = [["n1", "n2", "n1", "n2"]]
ALONE = [["n1"], ["n1"]]
ALONE_ON_TWO = [["n1"], ["n2"]]


@dataclasses.dataclass(frozen=True)
class Layout:
    name: str
    worlds: list  # the host of each rank, for each MPI_COMM_WORLD
    openmpi: str = ""  # the command, by kind of launcher; empty if the launcher has no such layout
    hydra: str = ""
    torchrun: str = ""
    at: str = "n0"
    launcher: str = ""  # the launcher that hpcboot must report, if it is not the column's
    scheduler: str = None
    truth: str = "mpi"
    short: bool = False  # part of the short matrix
    or_worlds: list = None  # also correct
    any_order: bool = False  # whether the hosts within a world may be in any order
    without: tuple = ()  # launchers that cannot start it
    known: dict = dataclasses.field(default_factory=dict)  # by kind of launcher: why hpcboot cannot know the answer


def both(command):
    return {"openmpi": command, "hydra": command}


def sbatch(options, openmpi, hydra=None):
    """A job script; the submitting shell expands $mpirun."""
    hydra = openmpi if hydra is None else hydra
    form = 'batch {} -- "{} \\"\\$@\\"" "$@"'
    return {"openmpi": form.format(options, openmpi), "hydra": form.format(options, hydra), "scheduler": "slurm"}


def qsub(options, openmpi, hydra=None):
    """A job script of Grid Engine. Open MPI's wheels do not support it, so they get its hosts, over ssh."""
    form = 'qsub_wait {} -- "{} \\"\\$@\\"" "$@"'
    return {"openmpi": form.format(options, openmpi), "hydra": form.format(options, hydra or openmpi), "scheduler": "sge"}


def alone(count):
    """count ranks on one host, without ssh."""
    return Layout(f"1 host, {count} rank{'s' if count > 1 else ''}", [count * ["n1"]], at="n1", short=count == 2,
                  openmpi=f'$mpirun --host localhost:4 -n {count} "$@"', hydra=f'$mpirun -n {count} "$@"',
                  torchrun=f'torchrun --standalone --nproc_per_node={count} "$@"')


LAYOUTS = [
    alone(1),
    alone(2),
    alone(4),
    Layout("ssh 2+2", TWO_BY_TWO, short=True,
           openmpi='$mpirun --host n1:2,n2:2 -n 4 "$@"', hydra='hosts n1:2 n2:2; $mpirun -machinefile hosts -n 4 "$@"',
           torchrun="""for node in n2 n1; do ssh $node "$(declare -f torchrun); cd ${PWD@Q}
             torchrun --nnodes=2 --node_rank=$((${node#n} - 1)) --nproc_per_node=2 --master_addr=n1 \
             --master_port=29511 ${*@Q}" & pids+=($!); done; wait "${pids[0]}" && wait "${pids[1]}" """),
    Layout("ssh 3+1", [["n1", "n1", "n1", "n2"]],
           openmpi='$mpirun --host n1:3,n2:1 -n 4 "$@"', hydra='hosts n1:3 n2:1; $mpirun -machinefile hosts -n 4 "$@"'),
    Layout("ssh 1+2, n2 first", [["n2", "n1", "n1"]], short=True,
           openmpi='$mpirun --host n2:1,n1:2 -n 3 "$@"', hydra='hosts n2:1 n1:2; $mpirun -machinefile hosts -n 3 "$@"'),
    Layout("ssh cyclic", CYCLIC, short=True,
           openmpi='$mpirun --host n1:2,n2:2 --map-by node -n 4 "$@"', hydra='$mpirun -hosts n1,n2 -ppn 1 -n 4 "$@"'),
    Layout("ssh by core, unbound", [4 * ["n1"] + 4 * ["n2"]],
           openmpi='$mpirun --map-by core --host n1:4,n2:4 -n 8 "$@"'),
    Layout("ssh, n1 listed twice", [["n1", "n1", "n2"]],
           openmpi='$mpirun --host n1:1,n2:1,n1:1 -n 3 "$@"'),
    Layout("ssh, n1 twice apart", [["n1", "n2", "n1"]], hydra='$mpirun -hosts n1,n2,n1 -ppn 1 -n 3 "$@"',
           known={"hydra": "Hydra restarts local ranks for each entry of the list, and the environment shows no more"}),
    Layout("ssh 3 hosts", [["n1", "n2", "n3"]], openmpi='$mpirun --host n1,n2,n3 -n 3 "$@"',
           hydra='$mpirun -hosts n1,n2,n3 -ppn 1 -n 3 "$@"'),
    Layout("ssh, two programs", [["n1", "n1", "n2"]],
           openmpi='$mpirun --host n1:2,n2:1 -n 1 "$@" : -n 2 "$@"',
           hydra='hosts n1:2 n2:1; $mpirun -machinefile hosts -n 1 "$@" : -n 2 "$@"'),
    Layout("sbatch 2+2", TWO_BY_TWO, **sbatch("-N2 --ntasks-per-node=2", "$mpirun", "$mpirun -n 4"), short=True),
    Layout("sbatch 3+1", [["n1", "n1", "n1", "n2"]], **sbatch("-N2 -n4", "$mpirun", "$mpirun -n 4")),
    Layout("sbatch, 1 rank of 2+2", ONE_HOST, **sbatch("-N2 --ntasks-per-node=2", "$mpirun -n 1")),
    Layout("sbatch cyclic", CYCLIC, **sbatch("-N2 --ntasks-per-node=2", "$mpirun --map-by node", "$mpirun -ppn 1 -n 4")),
    Layout("sbatch 2+1+1", [["n1", "n1", "n2", "n3"]], **sbatch("-N3 -n4", "$mpirun", "$mpirun -n 4")),
    Layout("sbatch, only n2 of 2", [["n2", "n2"]],
           **sbatch("-N2 --ntasks-per-node=2", "$mpirun --host n2:2 -n 2", "$mpirun -hosts n2 -n 2")),
    # Some launchers use the hosts in the order of the allocation.
    Layout("sbatch, n2 before n1", [["n2", "n1"]], any_order=True,
           **sbatch("-N2 --ntasks-per-node=2", "$mpirun --host n2:1,n1:1 -n 2", "$mpirun -hosts n2,n1 -ppn 1 -n 2")),
    Layout("sbatch array", [["n1", "n1"], ["n2", "n2"]],
           **sbatch("--array=1-2 -N1 -n2 --exclusive", "$mpirun -n 2")),
    Layout("sbatch by core", [4 * ["n1"] + 4 * ["n2"]], scheduler="slurm",
           openmpi=sbatch("-N2 --ntasks-per-node=4", "$mpirun --map-by core")["openmpi"]),
    Layout("salloc 2+2", TWO_BY_TWO, **both('salloc --quiet -N2 --ntasks-per-node=2 $mpirun -n 4 "$@"'),
           scheduler="slurm"),
    Layout("srun 2+2", TWO_BY_TWO, **both('srun --mpi=$mpi -N2 --ntasks-per-node=2 "$@"'), launcher="slurm",
           scheduler="slurm", short=True),
    Layout("srun 3+1", [["n1", "n1", "n1", "n2"]], **both('srun --mpi=$mpi -N2 -n4 "$@"'), launcher="slurm",
           scheduler="slurm"),
    Layout("srun cyclic", CYCLIC, **both('srun --mpi=$mpi -N2 --ntasks-per-node=2 --distribution=cyclic "$@"'),
           launcher="slurm", scheduler="slurm"),
    Layout("srun in mpirun", ACROSS, launcher="slurm", scheduler="slurm",
           **both('salloc --quiet -N2 -n4 $mpirun -n 1 srun --overlap --mpi=$mpi -N2 -n2 "$@"')),
    Layout("srun -n1 in each rank", ALONE, launcher="slurm", scheduler="slurm",
           **both('salloc --quiet -N1 -n2 $mpirun -n 2 srun --overlap --mpi=$mpi -N1 -n1 "$@"')),
    Layout("mpirun in srun", PAIR, scheduler="slurm",
           openmpi='salloc --quiet -N1 -n2 srun --overlap -n1 $mpirun --oversubscribe -n 2 "$@"',
           hydra='salloc --quiet -N1 -n2 srun --overlap -n1 $mpirun -n 2 "$@"'),
    Layout("mpirun -n 1 per task", ALONE_ON_TWO, scheduler="slurm",
           **both('salloc --quiet -N2 -n2 srun --overlap -n2 $mpirun $host -n 1 "$@"')),
    Layout("MPI in Hydra", PAIR, at="n1", **both('mpiexec.hydra -n 1 $mpirun $host -n 2 "$@"'), short=True),
    Layout("MPI in Hydra, alone", ALONE, at="n1", **both('mpiexec.hydra -n 2 $mpirun $host -n 1 "$@"')),
    # Open MPI refuses to run in Open MPI, and MPICH 5 if Open MPI's PMIX_NAMESPACE is set beside its own variables.
    Layout("MPI in Open MPI", PAIR, at="n1", without=("mpich-5.0.2",),
           hydra='mpirun.openmpi --host localhost:4 -n 1 $mpirun $host -n 2 "$@"'),
    Layout("MPI in Open MPI, alone", ALONE, at="n1", without=("mpich-5.0.2",),
           hydra='mpirun.openmpi --host localhost:4 -n 2 $mpirun $host -n 1 "$@"'),
    Layout("MPI in Open MPI, clean", PAIR, at="n1",
           **both("""mpirun.openmpi --host localhost:4 -n 1 bash -c '$("$0" sanitize) "$@"' $hpcboot $mpirun $host -n 2 "$@" """)),
    Layout("MPI in torchrun", PAIR, at="n1",
           **both('torchrun --standalone --nproc_per_node=1 $mpirun $host -n 2 "$@"')),
    Layout("MPI in torchrun, alone", ALONE, at="n1",
           **both('torchrun --standalone --nproc_per_node=2 $mpirun $host -n 1 "$@"')),
    Layout("torchrun in mpirun", TWO_BY_TWO, launcher="torchrun", truth="torch",
           openmpi="""$mpirun --host n1:1,n2:1 -n 2 bash -c "$(declare -f torchrun)"'
             torchrun --nnodes=2 --node_rank=$OMPI_COMM_WORLD_RANK --nproc_per_node=2 --master_addr=n1 \
             --master_port=29511 "$@"' - "$@" """,
           hydra="""$mpirun -hosts n1,n2 -ppn 1 -n 2 bash -c "$(declare -f torchrun)"'
             torchrun --nnodes=2 --node_rank=$PMI_RANK --nproc_per_node=2 --master_addr=n1 \
             --master_port=29511 "$@"' - "$@" """),
    Layout("qsub 2+2", TWO_BY_TWO,
           **qsub("-pe two 4 -masterq all.q@n1", """awk '{print \\$1, \\"slots=\\" \\$2}' \\$PE_HOSTFILE > hosts
             $mpirun --hostfile hosts""", "$mpirun -n 4")),
    # Grid Engine fills one host or the other.
    Layout("qsub 4+1", [["n1", "n1", "n1", "n1", "n2"]], or_worlds=[["n1", "n2", "n2", "n2", "n2"]],
           **qsub("-pe fill 5 -masterq all.q@n1", """awk '{print \\$1, \\"slots=\\" \\$2}' \\$PE_HOSTFILE > hosts
             $mpirun --hostfile hosts""", "$mpirun -n 5")),
    Layout("qsub 1 host", [["n1", "n1", "n1"]], **qsub("-pe one 3 -l h=n1", "$mpirun --host localhost:4 -n 3", "$mpirun -n 3")),
    Layout("qsub array", [["n1", "n1"], ["n1", "n1"]],
           **qsub("-pe one 2 -t 1-2 -l h=n1", "$mpirun --host localhost:4 -n 2", "$mpirun -n 2")),
    Layout("torchrun in srun", TWO_BY_TWO, scheduler="slurm", truth="torch",
           torchrun="""srun -N2 --ntasks-per-node=1 bash -c "$(declare -f torchrun)"'
             torchrun --nnodes=2 --node_rank=$SLURM_PROCID --nproc_per_node=2 --master_addr=n1 \
             --master_port=29511 "$@"' - "$@" """),
    Layout("torchrun in sbatch array", [["n1", "n1"], ["n2", "n2"]], scheduler="slurm", truth="torch",
           torchrun="""batch --array=1-2 -N1 -n2 --exclusive -- "$(declare -f torchrun)"'
             torchrun --standalone --nproc_per_node=2 "$@"' "$@" """),
]
