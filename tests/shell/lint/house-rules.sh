#!/usr/bin/env bash
# Usage: house-rules.sh ROOT. The rules of this project that no compiler knows. Prints each breach as
# FILE:LINE:TEXT under its rule; exit code 1 where there is any.
set -euo pipefail
# shellcheck source=tests/shell/lint/files.sh
. "$(dirname "${BASH_SOURCE[0]}")/files.sh"
cd "${1:?usage: house-rules.sh ROOT}"

breaches=0

# rule TEXT PATTERN: none of the files named on standard input has a line that matches, comments aside.
rule() {
  local text=$1 pattern=$2 files found
  mapfile -t files
  if [ ${#files[@]} -eq 0 ]; then return; fi
  if found=$(grep -nHE -- "$pattern" "${files[@]}" | grep -vE '^[^:]+:[0-9]+:[[:space:]]*//'); then
    printf '%s\n%s\n\n' "$text" "$found"
    breaches=$((breaches + 1))
  fi
}

rule "The environment is read in bootstrap/src/env.cpp alone, and never written:" \
  '\b(secure_getenv|getenv|setenv|unsetenv|putenv)[[:space:]]*\(' \
  < <(cpp_files . | grep -vx './bootstrap/src/env.cpp')

# Programs print; libraries throw or return.
rule "A library never prints:" \
  'std::(cout|cerr|clog)|\b(std::)?(printf|fprintf|puts|fputs)[[:space:]]*\(|fmt::print' \
  < <(cpp_files . | grep -E '^\./(bootstrap/(include|src|json|lint)|trainer/(include|torch|models|datasets|record))/')

rule "PMIx stays behind the exchange:" '#[[:space:]]*include[[:space:]]*[<"]pmix' \
  < <(cpp_files . | grep -v '^\./bootstrap/src/exchange/')

# A number would collide with the next job on the node.
rule "No fixed port in scripts:" 'MASTER_PORT=["'\'']?[0-9]' \
  < <(source_files . \( -path './jobscripts/*' -o -path './setup/*' \))

if [ "$breaches" -ne 0 ]; then exit 1; fi
echo "the house rules are kept"
