"""The table of tests/repeat --jobs, from what `ctest --repeat until-fail:N --verbose` prints.

usage: repeated_tests.py NAMES TIMES WIDTH <OUTPUT; NAMES has a line "NUMBER NAME" for each test, in ctest's numbers.
A test is finished after TIMES runs, or when it fails or is skipped. Its row is printed at once, and at the end those of
unfinished tests. Exit code 1 if a test has failed.
"""

import re
import sys

# " 3/23 Test #12: NAME ...   Passed    0.01 sec"; without "3/23" if it runs again.
RESULT = re.compile(r" *(?:\d+/\d+ )?Test +#(\d+): .*?(Passed|\*\*\*[A-Z].*?) +([0-9.]+) sec")
# "12: ok 3 name # skip reason": a test of a .bats file.
PART = re.compile(r"(\d+): (?:not )?ok \d+ ")


class Test:
    def __init__(self, name):
        self.name = name
        self.runs = self.failures = self.skipped = 0
        self.slowest = 0.0
        self.parts = self.skipped_parts = 0  # of the current run
        self.note = ""

    def finish_run(self, verdict, seconds):
        self.runs += 1
        self.slowest = max(self.slowest, seconds)
        all_skipped = 0 < self.parts == self.skipped_parts
        if verdict.startswith(("***Skipped", "***Not Run")) or (verdict == "Passed" and all_skipped):
            self.skipped += 1
        elif verdict != "Passed":
            self.failures += 1
        elif self.skipped_parts:
            self.note = f"{self.name}: {self.skipped_parts} of its {self.parts} tests are skipped here"
        self.parts = self.skipped_parts = 0

    def row(self, width):
        return f"{self.name:{width}} {self.runs:6} {self.failures:9} {self.skipped:8} {self.slowest:8.2f}"


def main(names_file, times, width):
    with open(names_file, encoding="utf-8") as lines:
        tests = {int(number): Test(name) for number, name in (line.rstrip("\n").split(" ", 1) for line in lines)}
    unfinished = dict(tests)
    for line in open(0, encoding="utf-8", errors="replace"):
        if (part := PART.match(line)) and (test := tests.get(int(part[1]))):
            test.parts += 1
            test.skipped_parts += " # skip" in line
        if (result := RESULT.match(line)) and (test := unfinished.get(int(result[1]))):
            test.finish_run(result[2], float(result[3]))
            if test.runs == times or test.failures or test.skipped:
                print(unfinished.pop(int(result[1])).row(width), flush=True)
    for test in unfinished.values():
        if test.runs:
            print(test.row(width))
    for test in tests.values():
        if test.note:
            print(test.note)
    return any(test.failures for test in tests.values())


sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
