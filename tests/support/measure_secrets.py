"""Generates samples of secrets from a list of regular expressions, and reports which of them leak into a capture.
Called by tests/measure-secrets, which documents how they are counted."""

import argparse
import functools
import os
import pathlib
import random
import re
import string
import subprocess
import sys
import zipfile

try:
    from re import _parser as sre_parse
except ImportError:  # before Python 3.11
    import sre_parse

PRINTABLE = [c for c in string.printable if c not in "\t\n\r\x0b\x0c"]


class Generator:
    """A random text that a regular expression may match. Unsupported parts (assertions) are left
    out, so the caller must check whether the text matches."""

    def __init__(self, rng):
        self.rng = rng

    def sample(self, pattern):
        self.groups = {}
        return self._of(sre_parse.parse(pattern))

    def _of(self, parsed):
        return "".join(self._one(str(op), value) for op, value in parsed)

    def _one(self, op, value):
        if op == "LITERAL":
            return chr(value)
        if op == "NOT_LITERAL":
            return self.rng.choice([c for c in PRINTABLE if ord(c) != value])
        if op == "ANY":
            return "."  # mostly an unescaped dot in an address
        if op == "IN":
            return self.rng.choice(self._set(value))
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, part = value
            # Text before and after a secret is kept short.
            top = least if least == 0 else min(int(most), least + 8)
            return "".join(self._of(part) for _ in range(self.rng.randint(least, top)))
        if op == "BRANCH":
            return self._of(self.rng.choice(value[1]))
        if op == "SUBPATTERN":
            text = self._of(value[3])
            self.groups[value[0]] = text
            return text
        if op == "GROUPREF":
            return self.groups.get(value, "")
        if op == "GROUPREF_EXISTS":
            taken = value[1] if value[0] in self.groups else value[2]
            return self._of(taken) if taken else ""
        if op == "ATOMIC_GROUP":
            return self._of(value)
        return ""  # AT, ASSERT, ASSERT_NOT

    @staticmethod
    def _set(items):
        if str(items[0][0]) == "NEGATE":
            barred = set(Generator._set(items[1:]))
            plain = [c for c in string.ascii_letters + string.digits if c not in barred]
            return plain or [c for c in PRINTABLE if c not in barred]
        chosen = []
        for op, value in items:
            if str(op) == "LITERAL":
                chosen.append(chr(value))
            elif str(op) == "RANGE":
                chosen += [chr(i) for i in range(value[0], value[1] + 1)]
            elif str(op) == "CATEGORY":
                chosen += {
                    "CATEGORY_DIGIT": string.digits,
                    "CATEGORY_WORD": string.ascii_letters + string.digits + "_",
                    "CATEGORY_SPACE": " ",
                }.get(str(value), string.ascii_letters)
        return [c for c in chosen if c.isprintable()] or chosen


class Rule:
    def __init__(self, name, patterns, secret, is_secret=True):
        self.name, self.patterns, self.secret, self.is_secret = name, patterns, secret, is_secret

    def samples(self, count, rng):
        """Pairs of a text and the secret in it. If there are several patterns, the text contains all of
        them, and the last one is the secret; the others give its context."""
        generator, found = Generator(rng), []
        for _ in range(4000):
            texts = [generator.sample(pattern).strip() for pattern in self.patterns]
            matches = [re.search(p, text) for p, text in zip(self.patterns, texts)]
            secret = all(matches) and self.secret(matches[-1])
            if not secret or any("\0" in text for text in texts):
                continue
            found.append((" ".join(texts), secret))
            if len(found) == count:
                break
        return found


# What may precede a secret, so that it is not part of a longer word; the samples start with the secret itself.
ESCAPES = (r"\\[0abfnrtv]|(?:%|\\x)[0-9A-Fa-f]{2}|\\[0-7]{3}|\\[Uu][0-9A-Fa-f]{4}|\x1B\[[0-9;]{0,80}m)")
BOUNDARIES = (r"(?:^|/|[^\\0-9A-Za-z+_-]|" + ESCAPES, r"(^|\W|" + ESCAPES)


def group_value(match):
    return match.group("value")


def credsweeper_rules(wheel):
    """The rules for code; those for documents look for sentences that mention a password."""
    import yaml

    with zipfile.ZipFile(wheel) as archive:
        rules = yaml.safe_load(archive.read("credsweeper/rules/config.yaml"))
    for rule in rules:
        if "code" not in rule["target"]:
            continue
        # The list itself calls these no more than a hint: identifiers, addresses.
        is_secret = rule["severity"] != "info" or rule["type"] == "keyword"
        patterns = rule["values"]
        if rule["type"] == "keyword":
            # A name that contains the word, in an assignment.
            patterns = [rf"{rule['name'].lower()}=(?P<value>[0-9A-Za-z]{{20}})"]
        elif rule["type"] == "pem_key":
            body = r"\n(?P<value>[0-9A-Za-z+/]{64})\n-----END PRIVATE KEY-----"
            patterns = ["-----BEGIN PRIVATE KEY-----" + body]
        for boundary in BOUNDARIES:
            patterns = [pattern.replace(boundary, "") for pattern in patterns]
        yield Rule(rule["name"], patterns, group_value, is_secret)


def gitleaks_secret(match, group=None):
    if group:
        return match.group(group)
    named = set(match.re.groupindex.values())
    groups = [g for i, g in enumerate(match.groups(), 1) if g and i not in named]
    text = groups[0] if groups and not named else match.group(0)
    return re.sub(r"^(https?://)?[\w.-]+\.(com|net)/", "", text)


def in_python(pattern):
    """Converts RE2 syntax; an (?i) in the middle is dropped: few sets contain letters of both cases."""
    pattern = pattern.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]")
    pattern = pattern.replace("(?-i:", "(?:")
    return ("(?i)" if pattern.startswith("(?i)") else "") + pattern.replace("(?i)", "")


def gitleaks_rules(file):
    import tomllib

    for rule in tomllib.loads(pathlib.Path(file).read_text())["rules"]:
        if "regex" in rule:
            secret = functools.partial(gitleaks_secret, group=rule.get("secretGroup"))
            yield Rule(rule["id"], [in_python(rule["regex"])], secret)


def capture(hpcboot, folder, variables):
    """What `hpcboot capture --all` writes for these variables."""
    captured = {}
    names = list(variables)
    for begin in range(0, len(names), 200):
        part = {name: variables[name] for name in names[begin : begin + 200]}
        target = folder / f"capture{begin}"
        result = subprocess.run([hpcboot, "capture", "--all", target], env=part, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if result.returncode != 0:
            sys.exit(f"measure-secrets: hpcboot capture: {result.stderr}")
        for file in target.glob("*.env"):
            text = file.read_text()
            entries = text.split("\0") if "\0" in text else text.split("\n")
            captured.update(entry.partition("=")[::2] for entry in entries if entry)
    return captured


def remains(text, secret):
    """True if eight consecutive characters are left, or the whole secret if it is shorter."""
    length = min(8, len(secret))
    return any(secret[i : i + length] in text for i in range(len(secret) - length + 1))


def places(number, text, secret):
    """Variables with the sample: alone, in a command line and, if it is an assignment, as itself."""
    yield f"PET{number}_A", text
    yield f"PET{number}_B", f"run --pet {text} --rank 3"
    name, _, value = text.partition("=")
    if secret in value and re.fullmatch(r"[A-Za-z_][\w.-]{,40}", name):
        yield f"{name.upper().replace('.', '_').replace('-', '_')}_PET{number}", value.strip("'\"` ")


def main():
    parser = argparse.ArgumentParser()
    for option in ("--credsweeper", "--gitleaks", "--hpcboot", "--folder"):
        parser.add_argument(option)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    rules = list(gitleaks_rules(arguments.gitleaks) if arguments.gitleaks
                 else credsweeper_rules(arguments.credsweeper))
    number, variables, planted, unmade = 0, {}, [], []
    for rule in rules:
        samples = rule.samples(arguments.samples, rng)
        if not samples:
            unmade.append(rule.name)
        for text, secret in samples:
            number += 1
            for name, value in places(number, text, secret):
                variables[name] = value
                planted.append((rule.name, name, secret))
    captured = capture(os.path.abspath(arguments.hpcboot), pathlib.Path(arguments.folder), variables)
    through = {}
    for rule, name, secret in planted:
        if name not in captured:
            sys.exit(f"measure-secrets: {name} is not in the capture")
        if remains(captured[name], secret):
            through.setdefault(rule, []).append((name, variables[name], captured[name]))
    source = pathlib.Path(arguments.gitleaks or arguments.credsweeper).name
    for is_secret, kind in ((True, "rules of secrets"), (False, 'rules of severity "info"')):
        made = {rule.name for rule in rules if rule.is_secret == is_secret} - set(unmade)
        out = len(made - set(through))
        share = f" ({100 * out / len(made):.1f} %)" if made else ""
        print(f"{source}: {out} of {len(made)} {kind} are kept out{share}")
    print(f"{number} samples in {len(planted)} places")
    for rule, cases in sorted(through.items()):
        print(f"  leaked: {rule}: {len(cases)} of {sum(1 for p in planted if p[0] == rule)} places")
        for name, value, left in cases[:4] if arguments.show else []:
            print(f"    {name}={value!r}\n    -> {left!r}")
    for rule in unmade:
        print(f"  no sample could be generated: {rule}")


if __name__ == "__main__":
    main()
