"""Where small faults can be introduced into C++ sources: for tests/mutants.

The text must be formatted by clang-format: binary operators are between blanks, unary ones are not.
"""

import re
from dataclasses import dataclass

COMPARISONS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&"}
COMPARISON = re.compile(r"(?<= )(==|!=|<=|>=|&&|\|\||<|>)(?= |$)", re.MULTILINE)
NOT = re.compile(r"(?<![\w)\]])!(?=[\w(*:!])")
TRUTH = re.compile(r"\b(true|false)\b")
# No fractions, and no durations: tests would have to measure how long something waits.
NUMBER = re.compile(r"(?<![\w.'])(0[xX][0-9a-fA-F']+|[0-9][0-9']*)([uUlLzZ]*)(?![\w.'])")
# How much of a value a message quotes, the size of a buffer or table, durations again, and -1, which means "none", as
# any negative number would.
NO_NUMBER_HERE = re.compile(
    r"\.substr\(0, $|(seconds|minutes|hours)( \w+)?[({]$|\b(char|byte|uint8_t) \w+\[$|array<[^;]*, [^;>]*$|[^\w)\]] ?-$")
QUOTED_LENGTH = re.compile(r"[0-9]{2,}\)")
# A statement that is only a call: no type precedes the name.
CALL = re.compile(r"(?!(?:if|for|while|switch|return|throw|catch|sizeof|static_assert|defined|alignas|else|do|using|new"
                  r"|delete|co_\w+|TEST\w*)\b)(?:::)?[A-Za-z_][\w:]*(?:(?:->|\.)\w+|\[[^\]\n]*\]|\([^()\n]*\))*\(")
JUMP = re.compile(r"(?:return|continue|break);")
# What ends the function early: dropped only after an `if`, since elsewhere the function would have no end.
EARLY = re.compile(r"(?:return|throw)\b")
SKIPPED_LINE = re.compile(r"\s*(?:#|static_assert|template <|using |namespace |friend )")


@dataclass(frozen=True)
class Mutant:
    """One fault: text[start:end] of the file at `path` becomes `new`."""

    path: str
    line: int
    start: int
    end: int
    new: str
    kind: str
    above: str
    old_line: str
    new_line: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.kind}: {self.old_line} → {self.new_line}"

    @property
    def name(self):
        """Its name in lists, which stays valid when lines move."""
        return (self.path, self.old_line, self.new_line)

    @property
    def place(self):
        """The name, and the line above, which distinguishes lines with the same text."""
        return (*self.name, self.above)


def code_of(text):
    """The text with comments and the contents of literals replaced by blanks; its length is unchanged."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|(?:u8|[uUL])?R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)

    def blank(match):
        inner = re.sub(r"[^\n]", " ", match[0])
        # Quotes are kept, so that an argument remains one.
        return inner if match[0].startswith("/") else '"' + inner[1:-1] + '"'

    return token.sub(blank, text)


def end_of_statement(code, start):
    """The index after the semicolon; None if it is not a statement of a few lines, such as one with a lambda's body."""
    depth = 0
    for at in range(start, min(len(code), start + 600)):
        if code[at] in "([":
            depth += 1
        elif code[at] in ")]":
            depth -= 1
        elif code[at] == ";" and depth == 0:
            return at + 1
        elif code[at] in "{}" and depth == 0:
            return None
        if depth < 0:
            return None
    return None


def opener_of(code, at):
    """The word before the parenthesis that code[at] closes."""
    depth = 0
    for i in range(at, -1, -1):
        depth += {")": 1, "(": -1}.get(code[i], 0)
        if depth == 0:
            words = re.findall(r"[\w:]+", code[max(0, i - 40):i])
            return words[-1] if words else ""
    return ""


def faults_of(code):
    """Tuples of the range (two), its replacement, and the kind."""
    for match in COMPARISON.finditer(code):
        yield match.start(), match.end(), COMPARISONS[match[0]], "comparison"
    for match in NOT.finditer(code):
        yield match.start(), match.end(), "", "comparison"
    for match in TRUTH.finditer(code):
        yield match.start(), match.end(), "false" if match[0] == "true" else "true", "constant"
    for match in NUMBER.finditer(code):
        before = NO_NUMBER_HERE.search(code[max(0, match.start() - 60):match.start()])
        if before and (before[0] != ".substr(0, " or QUOTED_LENGTH.match(code, match.start())):
            continue
        yield match.start(), match.end(), neighbour(match[1]) + match[2], "constant"
    for match in re.finditer(r"(?:[;{}]|\)|\belse)\s+(?=[A-Za-z_:])", code):
        start, end = match.end(), None
        before = match[0].strip()
        line = code[code.rfind("\n", 0, start) + 1:start]
        if before == ";" and line.count("(") > line.count(")"):
            continue  # the head of a `for`
        # A name after a bracket starts a statement only if the bracket belongs to an `if` or a loop.
        word = opener_of(code, match.start()) if before == ")" else ""
        if before == ")" and word not in ("if", "for", "while", "constexpr"):
            continue
        call = CALL.match(code, start)
        if call or JUMP.match(code, start):
            end = end_of_statement(code, start)
            # Skip declarations, and what affects only speed.
            if end and re.search(r"= (delete|default);$|\.reserve\([^;]*;$", code[start:end]):
                end = None
        elif EARLY.match(code, start):
            closed = code[:match.start()].rstrip()
            behind_if = word == "if" or (before == "{" and closed.endswith(")") and opener_of(code, len(closed) - 1) == "if")
            end = end_of_statement(code, start) if behind_if else None
        if end is not None:
            yield start, end, ";", "dropped call" if call else "dropped jump"


def neighbour(number):
    """The number plus one; for a large number a tenth, since the exact value of a large bound does not matter."""
    digits = number.replace("'", "")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
    value = int(digits, 8 if octal else 0)
    value = value + 1 if value < 100 or octal or digits[1:2] in ("x", "X") else value // 10
    return f"0{value:o}" if octal else f"0x{value:x}" if digits[1:2] in ("x", "X") else str(value)


def mutants_of(path, text):
    """Every fault that can be introduced into the file at `path`, by line."""
    code = code_of(text)
    starts = [0] + [match.end() for match in re.finditer("\n", text)]
    by_line = {}
    line = 0
    for start, end, new, kind in sorted(faults_of(code)):
        while line + 1 < len(starts) and starts[line + 1] <= start:
            line += 1
        if SKIPPED_LINE.match(code, starts[line]):
            continue
        last = text.find("\n", end)
        last = len(text) if last < 0 else last
        old_line, new_line = (" ".join(part.split()) for part in (
            text[starts[line]:last], text[starts[line]:start] + new + text[end:last]))
        above = " ".join(text[:starts[line]].rstrip().rpartition("\n")[2].split())
        by_line.setdefault(line + 1, []).append(
            Mutant(path, line + 1, start, end, new, kind, above, old_line, new_line))
    return by_line
