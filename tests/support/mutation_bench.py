"""A copy of the sources for mutants, its build, and its unit tests in a sandbox: for tests/mutants."""

import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# A fault may kill(-1), fill disk or memory, or delete files: the tests see only their own processes and /tmp, can write
# nowhere else, and have limits. The shell stays process 1, since the kernel protects that one from signals. Process IDs
# start at a different number in each sandbox: tests derive names from them that are host-wide, such as socket names.
INSIDE = """
set -e
bench=$PWD folder=$1
echo "$2" >/proc/sys/kernel/ns_last_pid
shift 2
while read -r _ _ _ _ where _; do
  case $where in /proc* | /sys* | /dev*) ;; *) mount -o remount,bind,ro "$where" 2>/dev/null || true ;; esac
done </proc/self/mountinfo
mount -t tmpfs -o size=1g,mode=1777 tmpfs /tmp
if [ ! -d "$bench" ]; then
  mkdir -p "$bench"
  mount --no-canonicalize --bind . "$bench"
  mount -o remount,bind,ro "$bench"
fi
cd "$folder"
ulimit -c 0
ulimit -v 8388608 # KiB: 8 GiB
ulimit -f 524288  # blocks of 512 bytes: 256 MiB
set +e
"$@" </dev/null
exit $?
"""


# Tests mostly wait: more of them than cores run at a time, and slow programs run in parts.
WORKERS = 2 * (os.cpu_count() or 1)
SHARD_SECONDS = 5


class BenchError(Exception):
    """A problem that prevents trying any mutants."""


class Test:
    """One program that ctest runs: all of its tests together if it is a GoogleTest program."""

    def __init__(self, command, folder):
        self.folder = folder
        self.program = Path(command[0])
        self.is_gtest = any(word.startswith("--gtest_filter=") for word in command)
        self.command = [command[0]] if self.is_gtest else command
        self.seconds = 0.0
        self.left_out = []

    @property
    def name(self):
        return self.program.name

    def words(self, only=None, without=()):
        if not self.is_gtest:
            return self.command
        chosen = only or "*-" + ":".join([*self.left_out, *without])
        return [*self.command, "--gtest_fail_fast", "--gtest_brief=0", "--gtest_color=no", f"--gtest_filter={chosen}"]


def failing_test(output):
    """The GoogleTest test that failed, or that was running when the program ended."""
    failed = re.search(r"^\[  FAILED  \] ([\w/.]+)", output, re.MULTILINE)
    if failed:
        return failed[1]
    before, _, last = output.rpartition("[ RUN      ] ")
    name = re.match(r"[\w/.]+", last) if before or last != output else None
    return name[0] if name and not re.search(r"\[       OK \]|\[  SKIPPED \]", last) else None


class Bench:
    """`folder` contains the copy of the sources of `root`, in src/, and its build, in build/."""

    def __init__(self, root, folder, say):
        self.root, self.folder, self.say = root, folder.resolve(), say
        self.sources, self.build = self.folder / "src", self.folder / "build"
        self.killers = defaultdict(Counter)
        self.tests = []
        self.running = set()
        self.lock = threading.Lock()
        self.numbers = itertools.cycle(range(1000, 31000, 300))

    # --- the copy and its build

    def copy_sources(self):
        listed = subprocess.run(["git", "-C", self.root, "ls-files", "-z", "-co", "--exclude-standard"],
                                capture_output=True, check=True).stdout.decode().split("\0")
        for name in filter(None, listed):
            source, copy = self.root / name, self.sources / name
            if not source.is_file() or (copy.is_file() and copy.read_bytes() == source.read_bytes()):
                continue  # keeps its date: nothing is built again
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
            copy.chmod(source.stat().st_mode & 0o777)

    def prepare(self):
        """Builds the copy without a fault, then measures its tests. Tests that fail are left out."""
        self.copy_sources()
        linker = "-fuse-ld=lld" if shutil.which("ld.lld") else ""
        # Fast to build, not to run; reads past the end of a vector or of an empty optional are detected.
        flags = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0 -g0 -D_GLIBCXX_ASSERTIONS", f"-DCMAKE_EXE_LINKER_FLAGS={linker}",
                 "-DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST", "-DHPCBOOT_BUILD_BENCH=OFF",
                 "-DHPCBOOT_WITH_TORCH=OFF", "-DHPCBOOT_UNITY_BUILD=OFF"]
        self.call(["cmake", "-S", self.sources, "-B", self.build, "-G", "Ninja", *flags])
        self.call(["cmake", "--build", self.build])
        listed = json.loads(self.call(["ctest", "--test-dir", self.build, "-L", "unit", "--show-only=json-v1"]))
        programs = {}
        for test in listed["tests"]:
            command = test.get("command", [])
            # Only programs of this build: a mutant changes no other.
            if command and Path(command[0]).is_relative_to(self.build) and Path(command[0]).is_file():
                properties = {p["name"]: p["value"] for p in test.get("properties", [])}
                one = Test(command, properties.get("WORKING_DIRECTORY", str(self.build)))
                key = one.program if one.is_gtest else tuple(command)
                programs.setdefault(key, one)
        self.tests = list(programs.values())
        if not self.tests:
            raise BenchError("ctest -L unit names no program of this build")
        code, output = self.run(["true"], str(self.build), 10)
        if code != 0:
            raise BenchError("unshare cannot create the namespaces here that isolate the tests of mutants: "
                             f"run this as root, or allow user namespaces ({output.strip()[-200:]})")
        self.fingerprints = self.fingerprint()
        kept = self.folder / "measured.json"
        measured = json.loads(kept.read_text()) if kept.exists() else {}
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda test: self.measure_once(test, measured), self.tests))
        kept.write_text(json.dumps(measured))
        self.tests = [test for test in self.tests if test.command]

    def measure_once(self, test, measured):
        """An unchanged program is not measured again."""
        key = " ".join(test.command) + " " + self.fingerprints[test].hex()
        if key in measured:
            test.seconds, test.left_out, is_left_out = measured[key]
            test.command = None if is_left_out else test.command
        else:
            self.measure(test)
            measured[key] = test.seconds, test.left_out, test.command is None

    def measure(self, test):
        while True:
            started = time.monotonic()
            code, output = self.run(test.words(), test.folder, 600)
            test.seconds = time.monotonic() - started
            if code == 0:
                return
            name = failing_test(output) if test.is_gtest else None
            if name is None or len(test.left_out) > 10:
                self.say(f"left out: {test.name} fails without a mutant")
                test.command = None
                return
            if self.run(test.words(only=name), test.folder, 600)[0] != 0:
                self.say(f"left out: {test.name} {name} fails without a mutant")
            else:
                self.say(f"left out: {test.name} {name} fails after other tests of its program")
            test.left_out.append(name)

    def call(self, words):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            raise BenchError(f"{words[0]}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
        return done.stdout

    def make(self, programs):
        """Builds them; returns the compiler's output on failure."""
        names = [str(program.relative_to(self.build)) for program in programs]
        done = subprocess.run(["ninja", "-C", str(self.build), *names], capture_output=True, text=True)
        return None if done.returncode == 0 else done.stdout

    def fingerprint(self):
        """Hashes of each test's program, and of every program of the build that it starts."""
        tools = [(str(path).encode(), hashlib.sha1(path.read_bytes()).digest())
                 for path in (self.build / "bin").glob("*") if path.is_file()]
        prints = {}
        for test in self.tests:
            contents = test.program.read_bytes()
            prints[test] = hashlib.sha1(contents).digest() + b"".join(d for path, d in tools if path in contents)
        return prints

    # --- one mutant

    def try_mutant(self, mutant):
        """The verdict: "killed by …", "survived", "not built" or "not linked" (no unit test has that code)."""
        path = self.sources / mutant.path
        text = path.read_text()
        path.write_text(text[:mutant.start] + mutant.new + text[mutant.end:])
        try:
            return self.verdict(mutant)
        finally:
            path.write_text(text)

    def verdict(self, mutant):
        killers = self.killers[mutant.path] + self.killers[str(Path(mutant.path).parent)]
        left = sorted(self.tests, key=lambda test: (-killers[test.name], test.seconds))
        is_linked = False
        while left:
            # First only the likeliest program: it mostly decides, and the others need not be linked.
            now, left = (left[:1], left[1:]) if len(left) == len(self.tests) else (left, [])
            if self.make(test.program for test in now) is not None:
                return "not built"
            prints = self.fingerprint()
            changed = [test for test in now if prints[test] != self.fingerprints[test]]
            is_linked = is_linked or bool(changed)
            killer = self.first_failure(changed)
            if killer:
                for key in (mutant.path, str(Path(mutant.path).parent)):
                    self.killers[key][killer.split()[0]] += 1
                return "killed by " + killer
        return "survived" if is_linked else "not linked"

    def first_failure(self, tests):
        found = []

        def one(test, shard, shards):
            failure = None if found else self.failure_of(test, shard, shards, found)
            if failure:
                found.append(failure)
                self.stop_running()

        parts = []
        for test in tests:
            shards = 1 + int(test.seconds / SHARD_SECONDS) if test.is_gtest else 1
            parts += [(test, shard, shards) for shard in range(shards)]
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda part: one(*part), parts))
        return found[0] if found else None

    def failure_of(self, test, shard, shards, found):
        """A failure counts only if the test fails again, alone: a busy machine must not kill a mutant."""
        deadline = 10 + 3 * test.seconds / shards
        environment = {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)} if test.is_gtest else {}
        unsteady = []
        while len(unsteady) < 4:
            code, output = self.run(test.words(without=unsteady), test.folder, deadline, environment)
            if code == 0 or found:
                return None
            name = failing_test(output) if test.is_gtest else None
            if test.is_gtest and name is None:
                return f"{test.name} (ends with {code})"
            code, _ = self.run(test.words(only=name), test.folder, 15 if name else deadline)
            if found:
                return None
            if code != 0:
                how = " (deadline)" if code == "deadline" else ""
                return f"{test.name} {name}{how}" if name else test.name + how
            if name is None:
                return None
            unsteady.append(name)
        return None

    # --- the sandbox

    def run(self, words, folder, deadline, environment=None):
        """The exit code, or "deadline", and the output."""
        names = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if os.geteuid() != 0:
            names.insert(1, "--map-root-user")
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            process = subprocess.Popen([*names, "sh", "-c", INSIDE, "sh", folder, str(next(self.numbers)), *words],
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=self.folder,
                                       env={**os.environ, **(environment or {})}, start_new_session=True)
            with self.lock:
                self.running.add(process)
            try:
                code = process.wait(deadline)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                code = "deadline"
            finally:
                with self.lock:
                    self.running.discard(process)
            output.seek(max(0, os.fstat(output.fileno()).st_size - 1_000_000))
            return code, output.read()

    def stop_running(self):
        with self.lock:
            for process in self.running:
                process.send_signal(signal.SIGKILL)
