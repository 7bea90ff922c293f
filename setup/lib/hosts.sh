# The list of hosts, in the forms that Open MPI ("[user@]host slots=4") and MPICH ("[user@]host:4")
# take; `#` begins a comment.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

hosts=()           # as ssh takes them, [user@]host, each once, in the order of the file
declare -A slots_of # by the same names

hosts_file_error() {
  printf '%s: error\n  found:    %s\n  expected: %s\n  do:       %s\n' "$program" \
    "line $2 of $1: '$3'" "$4" "correct that line" >&2
  exit 2
}

# shellcheck disable=SC2094 # the file is only named to hosts_file_error
# read_hosts FILE: fills $hosts and $slots_of. Exit code 2 where a line is not of these forms.
read_hosts() {
  local file=$1 text line number=0 host user slots max_slots key value
  local form="a host, as 'n1 slots=4', 'n1:4' or 'user@n1' has it"
  if [ -z "$file" ]; then usage_error "--hosts FILE is needed"; fi
  if [ ! -f "$file" ] || [ ! -r "$file" ]; then usage_error "cannot read the hosts file '$file'"; fi
  while IFS= read -r text || [ -n "$text" ]; do
    number=$((number + 1))
    text=${text%$'\r'}
    line=${text%%#*}
    # Blanks around "=" are allowed: "slots = 4".
    while [[ $line =~ ^(.*[^[:space:]])?[[:space:]]*=[[:space:]]+(.*)$ || $line =~ ^(.*[^[:space:]])[[:space:]]+=(.*)$ ]]; do
      line=${BASH_REMATCH[1]}=${BASH_REMATCH[2]}
    done
    read -r host line <<<"$line"
    if [ -z "$host" ]; then continue; fi
    slots=1
    max_slots=
    user=
    if [[ $host == *@* ]]; then
      user=${host%%@*}
      host=${host#*@}
      [[ $user =~ ^[A-Za-z_][A-Za-z0-9._-]*$ ]] || hosts_file_error "$file" $number "$text" "$form"
    fi
    if [[ $host =~ ^\[([0-9A-Fa-f:.]+)\](:([1-9][0-9]{0,5}))?$ ]]; then
      host=${BASH_REMATCH[1]}
      slots=${BASH_REMATCH[3]:-1}
    elif [[ $host =~ ^([^:]+):([1-9][0-9]{0,5})$ ]]; then
      host=${BASH_REMATCH[1]}
      slots=${BASH_REMATCH[2]}
    fi
    [[ $host =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*$ || $host =~ ^[0-9A-Fa-f]*:[0-9A-Fa-f:.]+$ ]] ||
      hosts_file_error "$file" $number "$text" "$form"
    for key in $line; do
      value=${key#*=}
      [[ $key =~ ^[A-Za-z_-]+=[^=]+$ ]] || hosts_file_error "$file" $number "$text" "$form"
      case ${key%%=*} in
        slots) slots=$value ;;
        max_slots | max-slots) max_slots=$value ;;
        user_name | user-name | username) user=$value ;;
      esac
    done
    [[ $slots =~ ^[1-9][0-9]{0,5}$ ]] || hosts_file_error "$file" $number "$text" "a number of slots from 1"
    if [ -n "$max_slots" ]; then
      [[ $max_slots =~ ^[1-9][0-9]{0,5}$ && $max_slots -ge $slots ]] ||
        hosts_file_error "$file" $number "$text" "max_slots not below slots"
    fi
    host=${user:+$user@}$host
    if [ -z "${slots_of[$host]-}" ]; then hosts+=("$host"); fi
    slots_of[$host]=$((${slots_of[$host]-0} + slots))
  done <"$file"
  [ ${#hosts[@]} -gt 0 ] || usage_error "the hosts file '$file' names no host"
}

# Names that mean this machine wherever they are used: nobody needs ssh to get there.
is_here() {
  case ${1#*@} in
    localhost | localhost.localdomain | ip6-localhost | 127.* | ::1) return 0 ;;
    *) return 1 ;;
  esac
}
