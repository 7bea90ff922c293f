#!/usr/bin/env bash
# Usage: house-rules.sh ROOT. Checks project rules that no compiler checks. Prints each violation as
# FILE:LINE:TEXT under its rule; exit code 1 if there is any.
set -euo pipefail
# shellcheck source=tests/shell/lint/files.sh
. "$(dirname "${BASH_SOURCE[0]}")/files.sh"
cd "${1:?usage: house-rules.sh ROOT}"

breaches=0

# rule TEXT PATTERN: no file named on standard input may have a matching line, except in comments.
rule() {
  local text=$1 pattern=$2 files found
  mapfile -t files
  if [ ${#files[@]} -eq 0 ]; then return; fi
  if found=$(grep -nHE -- "$pattern" "${files[@]}" | grep -vE '^[^:]+:[0-9]+:[[:space:]]*//'); then
    printf '%s\n%s\n\n' "$text" "$found"
    breaches=$((breaches + 1))
  fi
}

rule "The environment is read only in bootstrap/core/env.cpp, and never written:" \
  '\b(secure_getenv|getenv|setenv|unsetenv|putenv)[[:space:]]*\(' \
  < <(cpp_files . | grep -vx './bootstrap/core/env.cpp')

# Untrusted text is hostile until it is encoded for its sink; bootstrap/include/hpcboot/encode.hpp has the
# encoders. There is one way to the terminal: it accepts only literals, numbers and encoded text.
rule "All output goes through hpcboot::out() and err() (bootstrap/text/terminal.hpp):" \
  'std::(cout|cerr|clog|puts|putchar)\b|\b(std::)?(v?f?d?printf|puts|fputs|fputc|putchar|perror|psignal)[[:space:]]*\(|fmt::v?print(ln)?\b|std::w(cout|cerr|clog)\b|\b(fwrite|syslog|v?warnx?|v?errx?)[[:space:]]*\([^)]*(stdout|stderr|")|\bwrite\([12],|/dev/std(out|err)|STD(OUT|ERR)_FILENO,[[:space:]]*[^,)]*,' \
  < <(cpp_files . | grep -E '^\./(bootstrap|trainer|setup)/' | grep -vx './bootstrap/text/terminal.cpp')

# Programs print; libraries throw or return.
rule "A library never prints:" '\b(out|err)\(\)[[:space:]]*(<<|\.)' \
  < <(cpp_files . | grep -E '^\./(bootstrap/(include|c|core|describe|diagnose|jobs|json|rendezvous|toml)|trainer/(include|torch|models|datasets|record))/')

# Encoded::as_is() is a promise that nothing checks, so only a few files may use it: the encoders, and the writers of
# whole texts from encoded parts.
rule "Encoded::as_is() is for encoders and writers of documents; add a file here only with its reason:" 'as_is\(' \
  < <(cpp_files . | grep -E '^\./(bootstrap|trainer|setup)/' | grep -vxE \
    -e './bootstrap/(include/hpcboot/encode\.hpp|core/encode/[a-z]+\.cpp|json/bounded_json\.cpp|text/[a-z_]+\.[ch]pp)' \
    -e './trainer/record/table_format\.cpp' `# every cell is encoded for its format` \
    -e './trainer/datasets/inspect\.cpp' `# images drawn of blocks and colours` \
    -e './bootstrap/cli/(env|run_submit|script)\.cpp' `# shell words, quoted; a script rendered of typed values` \
    -e './bootstrap/cli/queue_of_user\.cpp' `# output of a job, shown as run shows it` \
    -e './trainer/loop/run_training\.cpp' `# format_error(), which encodes` \
    -e './bootstrap/options/[a-z_]+\.cpp' `# help, manual pages and completion, made of literals`)

# The nesting and the length of untrusted text are unlimited.
rule "JSON is parsed and written only by bootstrap/json/bounded_json.cpp:" \
  '[Jj]son::(parse|sax_parse|accept|from_[a-z]+)\b|nlohmann[:/]|>>[[:space:]]*[A-Za-z_]*json\b|_json(_pointer)?\b[[:space:]]*;|\.dump\((-?[0-9]|[a-z]+,)' \
  < <(cpp_files . | grep -E '^\./(bootstrap|trainer|setup)/' | grep -vE '^\./bootstrap/json/bounded_json\.[ch]pp$')
rule "TOML is parsed only by bootstrap/toml/bounded_toml.cpp:" 'toml::parse|toml\+\+/' \
  < <(cpp_files . | grep -E '^\./(bootstrap|trainer|setup)/' | grep -vE '^\./bootstrap/toml/bounded_toml\.[ch]pp$')

# It may be any printable text, which has no effect only in a comment.
rule "Free text of a profile may appear only in comments of a template:" \
  '^[^#].*\{\{\{[[:space:]]*(description|storage_note|arguments|script|summary)[[:space:]]*\}' \
  < <(source_files . -path './jobscripts/templates/*')

rule "PMIx is used only by the exchange (bootstrap/rendezvous):" '#[[:space:]]*include[[:space:]]*[<"]pmix' \
  < <(cpp_files . | grep -v '^\./bootstrap/rendezvous/')

# A fixed port would collide with another job on the node.
rule "No fixed port in scripts:" 'MASTER_PORT=["'\'']?[0-9]' \
  < <(source_files . \( -path './jobscripts/*' -o -path './setup/*' \))

# A fuzzer that is not built, or has no seeds, finds nothing.
for file in tests/fuzz/*.cpp; do
  [ -e "$file" ] || continue
  name=$(basename "$file" .cpp)
  if ! grep -qE "^\|[^|]*\b$name\b" tests/fuzz/README.md || ! grep -qw "$name" tests/fuzz.cmake ||
    [ -z "$(find "tests/fuzz/corpus/$name/" -type f -print -quit)" ]; then
    printf '%s\n%s\n\n' "A fuzzer has a line in tests/fuzz.cmake, a row in tests/fuzz/README.md and seeds:" "./$file:1:"
    breaches=$((breaches + 1))
  fi
done

if [ "$breaches" -ne 0 ]; then exit 1; fi
echo "all house rules are met"
