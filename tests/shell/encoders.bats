#!/usr/bin/env bats
# The two encoders for a terminal, hpcboot's and that of setup/lib/text.sh, escape the same characters: those that
# Unicode calls unseen.

@test "hpcboot and setup escape the same characters, which are Unicode's" {
  hpcboot=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")/hpcboot
  [ -x "$hpcboot" ] || skip "$hpcboot is not built"
  python3 - "$hpcboot" "$BATS_TEST_DIRNAME/../../setup/lib/text.sh" <<'PY'
import subprocess, sys, unicodedata

def points(*ranges):
    return {point for first, last in ranges for point in range(first, last + 1)}

# DerivedCoreProperties.txt and PropList.txt of Unicode 16.
default_ignorable = points(
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF))
prepended_concatenation_marks = points(
    (0x600, 0x605), (0x6DD, 0x6DD), (0x70F, 0x70F), (0x890, 0x891), (0x8E2, 0x8E2), (0x110BD, 0x110BD), (0x110CD, 0x110CD))
joiners = points((0x200C, 0x200D))
variation_selectors = points((0x180B, 0x180D), (0x180F, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))

# No NUL in an argument, no separator in the text, no surrogates in UTF-8.
all_points = points((1, 0x10FFFF)) - {ord("|")} - points((0xD800, 0xDFFF))
later = {point for point in all_points if unicodedata.category(chr(point)) == "Cn"} - default_ignorable
unseen = {point for point in all_points if unicodedata.category(chr(point)) in ("Cc", "Cf", "Zl", "Zp")}
unseen = (unseen | default_ignorable) - prepended_concatenation_marks - joiners - variation_selectors

def escaped(command, some):
    found, some = set(), sorted(some)
    for start in range(0, len(some), 20000):
        part = some[start:start + 20000]
        text = "|" + "".join(chr(point) + "|" for point in part)
        run = subprocess.run(command + [text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        cells = run.stdout.decode().split("|")[1:-1]
        assert len(cells) == len(part), (command, len(cells), len(part))
        found |= {point for point, cell in zip(part, cells) if cell != chr(point)}
    return found

def compare(name, command, some):
    difference = (escaped(command, some) ^ (unseen & some)) - later
    assert not difference, name + ": " + " ".join("U+%04X" % point for point in sorted(difference)[:20])

compare("hpcboot", [sys.argv[1]], all_points)
near = {point + step for point in unseen for step in (-1, 0, 1)} | {point << 3 for point in range(1, 0x1000)}
compare("printable", ["bash", "-c", '. "$0"; printable "$1"', sys.argv[2]], near & all_points)
PY
}
