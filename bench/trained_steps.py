"""Short trainings and the times of their steps: for the scripts of this folder."""
import csv
import pathlib
import shutil
import subprocess
import sys
import tempfile

from peers.launch import environment


def run(command):
    """The output of a command, with one thread a process; the script ends if it fails."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=environment(1))
    if done.returncode != 0:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {command} ended with {done.returncode}:\n"
                 f"{done.stdout.decode(errors='replace')}")
    return done.stdout.decode(errors="replace")


class Training:
    """A command that trains, and the steps of all its runs."""

    def __init__(self, name, command):
        self.name, self.command = name, command
        self.steps = []

    def measure(self, folder):
        """Runs it once, in a folder below `folder`."""
        runs = pathlib.Path(tempfile.mkdtemp(dir=folder))
        runs.chmod(0o777)
        run([*self.command, "--runs-dir", runs, "--threads", 1, "--no-tensorboard", "--checkpoint-every", 0])
        (folder_of_run,) = runs.iterdir()
        with open(folder_of_run / "metrics.csv") as file:
            # The first step loads libraries and allocates.
            self.steps += [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)][1:]
        shutil.rmtree(runs)

    def column(self, name):
        """Milliseconds of each step."""
        return [1e3 * step[name] for step in self.steps]

    def share(self, name):
        """Of the time of all steps."""
        return sum(self.column(name)) / sum(self.column("step_seconds"))
