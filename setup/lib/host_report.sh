# The results of check-hosts as a table, or as JSON.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# A cell of the table: the host's value, "-" if there is none, marked if it is a mismatch.
cell() {
  local value=${fact[$1 $2]-}
  case $2 in
    memory_mib) if [ -n "$value" ]; then value="$(((value + 512) / 1024)) GiB"; fi ;;
    interfaces) value=$(sed -E 's/ [0-9./]+//g' <<<"$value") ;; # addresses only with --json
  esac
  printf '%s%s' "${value:--}" "${is_mismatch[$1 $2]:+ !}"
}

print_table() {
  local host what cells
  {
    row host os cores load memory gpus gpu_users driver cuda mpi libtorch shared clock interfaces seconds
    for host in "$head" "${hosts[@]}"; do
      cells=("$host")
      for what in "${host_facts[@]}"; do cells+=("$(cell "$host" "$what")"); done
      row "${cells[@]}" "$(cat "$work/facts.$host.seconds")"
    done
  } | table
}

print_mismatches() {
  local i
  echo
  for ((i = 0; i < ${#mismatches[@]}; i += 5)); do
    tell "${mismatches[i]}: ${mismatches[i + 1]} is ${mismatches[i + 2]}, not ${mismatches[i + 3]}; do: ${mismatches[i + 4]}"
  done
}

json_text() { if [ -n "$1" ]; then json_string "$1"; else printf null; fi; }
json_number() { if [[ $1 =~ ^[+-]?[0-9]+(\.[0-9]+)?$ ]]; then printf '%s' "${1#+}"; else printf null; fi; }

# json_list: an array of the lines on standard input, which are JSON already.
json_list() { printf '[%s]' "$(paste -sd , -)"; }

json_host() {
  local host=$1 name line count shared=null
  case ${fact[$host shared]-} in yes) shared=true ;; no) shared=false ;; esac
  printf '{"host":%s,"reached":%s,"os":%s,"cores":%s,"memory_mib":%s' "$(json_string "$host")" \
    "$(if [ -n "${fact[$host os]-}" ]; then echo true; else echo false; fi)" "$(json_text "${fact[$host os]-}")" \
    "$(json_number "${fact[$host cores]-}")" "$(json_number "${fact[$host memory_mib]-}")"
  printf ',"gpus":%s' "$(first_answers "$host" gpu | while read -r line; do json_string "$line"; echo; done | json_list)"
  printf ',"load":%s,"gpu_users":%s' "$(json_number "${fact[$host load]-}")" \
    "$(first_answers "$host" gpu_user | counted | while read -r count name; do
      printf '{"user":%s,"processes":%s}\n' "$(json_string "$name")" "$count"
    done | json_list)"
  for name in driver cuda mpi libtorch; do printf ',"%s":%s' $name "$(json_text "${fact[$host $name]-}")"; done
  printf ',"shared":%s,"clock_skew_seconds":%s' "$shared" "$(json_number "${fact[$host clock]-}")"
  printf ',"interfaces":%s' "$(first_answers "$host" interface | while read -r name line; do
    printf '{"name":%s,"address":%s}\n' "$(json_string "$name")" "$(json_string "$line")"
  done | json_list)"
  printf ',"seconds":%s}\n' "$(json_number "$(cat "$work/facts.$host.seconds")")"
}

print_json() {
  local i
  printf '{"ok":%s,"folder":%s,"head":%s,"hosts":%s,"mismatches":%s}\n' \
    "$(if [ ${#mismatches[@]} -eq 0 ]; then echo true; else echo false; fi)" "$(json_string "$folder")" \
    "$(json_host "$head")" "$(for host in "${hosts[@]}"; do json_host "$host"; done | json_list)" \
    "$(for ((i = 0; i < ${#mismatches[@]}; i += 5)); do
      printf '{"host":%s,"what":%s,"found":%s,"expected":%s,"remedy":%s}\n' "$(json_string "${mismatches[i]}")" \
        "$(json_string "${mismatches[i + 1]}")" "$(json_string "${mismatches[i + 2]}")" \
        "$(json_string "${mismatches[i + 3]}")" "$(json_string "${mismatches[i + 4]}")"
    done | json_list)"
}
