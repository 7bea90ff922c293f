"""How the programs of a comparison are started."""
import os


def environment(threads, passive=False):
    """With `passive`, OpenMP's threads sleep while they wait; otherwise as each program has it."""
    policy = {"OMP_WAIT_POLICY": "passive"} if passive else {}
    return dict(os.environ, OMP_NUM_THREADS=str(threads), **policy,
                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def mpirun(ranks):
    return ["mpirun", "-np", str(ranks), "--oversubscribe", "--bind-to", "none"]
