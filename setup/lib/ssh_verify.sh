# Which hosts can be reached, from here and from each other; the table at the end of every verb.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# probe_hosts NAME HOST…: connects without changing anything.
probe_hosts() {
  local name=$1
  shift
  echo 'echo hpcboot:ok' >"$work/$name.sh"
  on_all "$name" "$work/$name.sh" "$@"
}

# state_on NAME HOST
state_on() {
  local code
  code=$(cat "$work/$1.$2.code")
  if [ "$code" -eq 0 ] && ! grep -q '^hpcboot:ok' "$work/$1.$2.out"; then
    echo broken
  else
    state_of "$code" "$(words_of "$1.$2")"
  fi
}

# hop_script TARGET…: for sh on a host: tries ssh from there to each target.
hop_script() {
  local target
  printf 'seconds=%s\n' "$timeout"
  cat "${BASH_SOURCE[0]%/*}/own_known_hosts.sh"
  cat <<'SH'
hop() {
  known=$(own_known_hosts "$seconds" -- "$1")
  words=$(LC_ALL=C timeout -k 1 "$seconds" ssh -T -o BatchMode=yes -o "ConnectTimeout=$seconds" -o StrictHostKeyChecking=yes \
    -o UpdateHostKeys=no -o LogLevel=ERROR -o ControlPath=none -o ClearAllForwardings=yes \
    ${known:+-o "UserKnownHostsFile=$known"} -- "$1" 'exit 0' 2>&1 </dev/null)
  echo "hpcboot:hop $1 $? $(printf %s "$words" | tr '\n' ' ')"
}
SH
  for target in "$@"; do printf 'hop %s\n' "$(shell_word "$target")"; done
}

declare -A hop_state # by "FROM TO": open, or a failure state; unset if it was not tried

# hop_hosts HOST…: from each of them to each other. Every host starts at its own place in the list, so
# that no sshd is contacted by all at once.
hop_hosts() {
  local host target targets=() i others code words host_deadline
  for target in "$@"; do if ! is_here "$target"; then targets+=("$target"); fi; done
  : >"$work/hop.sh"
  for ((i = 0; i < $#; ++i)); do
    host=${*:i+1:1}
    others=()
    for target in "${targets[@]:i}" "${targets[@]:0:i}"; do
      if [ "$target" != "$host" ]; then others+=("$target"); fi
    done
    hop_script "${others[@]}" >"$work/hop.sh.$host"
  done
  host_deadline=$(((timeout + 1) * ($# + 1)))
  on_all hop "$work/hop.sh" "$@"
  for host in "$@"; do
    for target in "${targets[@]}"; do
      if [ "$target" != "$host" ]; then hop_state[$host $target]=silent; fi
    done
    while read -r target code words; do
      if ! [[ $code =~ ^[0-9]{1,3}$ && -n ${hop_state[$host $target]-} ]]; then continue; fi # not an answer to us
      hop_state[$host $target]=$(state_of "$code" "$words")
    done < <(answers "hop.$host" hop)
  done
}

# One row per host as the origin, one column per host as the target.
hop_matrix() {
  local from to cells state
  {
    row 'from \ to' "${hosts[@]}"
    for from in "${hosts[@]}"; do
      cells=("$from")
      for to in "${hosts[@]}"; do
        state=${hop_state[$from $to]--}
        if [ "$state" = open ]; then state=ok; fi
        cells+=("$state")
      done
      row "${cells[@]}"
    done
  } | table
}

hop_remedy() {
  case $1 in
    denied | unknown) echo "ssh-setup authorize --mesh" ;;
    crowded) echo "the agent offers more keys there than sshd takes" ;;
    expired) echo "the password has expired there: choose a new one" ;;
    changed) echo "that host knows a different host key: run ssh-keygen -R there" ;;
    *) echo "$1 from there: a firewall between them, or names that only this machine knows?" ;;
  esac
}

# report: prints the table. True if every host is open, and every hop that was tried.
report() {
  local host state code words hops ok failed remedy to all_right=true
  {
    row host reachable passwordless hops seconds remedy
    for host in "${hosts[@]}"; do
      state=$(state_on probe "$host")
      code=$(cat "$work/probe.$host.code")
      words=$(words_of "probe.$host")
      remedy=$(remedy_of "$state" "$host" "$code" "$words")
      ok=0
      failed=()
      for to in "${hosts[@]}"; do
        case ${hop_state[$host $to]--} in
          -) ;;
          open) ok=$((ok + 1)) ;;
          *) failed+=("$to") ;;
        esac
      done
      hops=-
      if [ $((ok + ${#failed[@]})) -gt 0 ]; then hops=$ok/$((ok + ${#failed[@]})); fi
      if [ ${#failed[@]} -gt 0 ]; then
        remedy="cannot reach ${failed[*]}: $(hop_remedy "${hop_state[$host ${failed[0]}]}")"
      fi
      if [ "$state" != open ] || [ ${#failed[@]} -gt 0 ]; then all_right=false; fi
      row "$host" \
        "$(if is_here "$host"; then echo here; elif is_reachable "$state"; then echo yes; else echo no; fi)" \
        "$(case $state in open) echo yes ;; denied | crowded) echo no ;; *) echo - ;; esac)" \
        "$hops" "$(cat "$work/probe.$host.seconds")" "$remedy"
    done
    # The loop is in a pipeline, so its verdict is passed in a file.
    echo "$all_right" >"$work/verdict"
  } | table
  [ "$(cat "$work/verdict")" = true ]
}
