# The list of hosts, in the forms of Open MPI ("[user@]host slots=4") and MPICH ("[user@]host:4");
# `#` starts a comment.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

hosts=()           # [user@]host as ssh accepts it, each once, in the order of the file
declare -A slots_of # by the same names

# hosts_file_error FILE NUMBER LINE EXPECTED [REMEDY]
hosts_file_error() {
  print_error "line $2 of $1: '${3:0:200}'" "$4" "${5:-correct that line}"
  exit 2
}

# The names that useradd and directory services allow. It becomes a word of ssh's command line and configuration.
user_form="a user name: a letter or _, then letters, digits, '.', '_' or '-', optionally a '\$' at the end; at most 64 characters"
is_user_name() { [[ ${#1} -le 64 && $1 =~ ^[A-Za-z_][A-Za-z0-9._-]*\$?$ ]]; }

# A DNS name, an alias from ssh's configuration, or an address.
is_host_name() {
  [[ ${#1} -le 253 && $1 =~ ^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*\.?$ ]] ||
    [[ ${#1} -le 45 && $1 =~ ^[0-9A-Fa-f]*:[0-9A-Fa-f:.]+$ ]]
}

is_slots() { [[ $1 =~ ^[1-9][0-9]{0,5}$ ]]; }

# is_endpoint [USER@]HOST
is_endpoint() {
  if [[ $1 == *@* ]]; then is_user_name "${1%%@*}" || return 1; fi
  is_host_name "${1#*@}"
}

# A NUL byte is an error: `read` would drop it, and mpirun would read a different name than we do.
refuse_nul() {
  local before newlines
  if ! IFS= read -r -d '' before <"$1"; then return; fi
  newlines=${before//[!$'\n']/}
  hosts_file_error "$1" $((${#newlines} + 1)) "${before##*$'\n'}, then a NUL byte" "a text file"
}

# shellcheck disable=SC2094 # the file is only named to hosts_file_error
# read_hosts FILE: fills $hosts and $slots_of. Exit code 2 if a line has none of these forms.
read_hosts() {
  local file=$1 text line number=0 host user slots max_slots key value pairs
  local form="a host, such as 'n1 slots=4', 'n1:4' or 'user@n1'"
  if [ -z "$file" ]; then usage_error "--hosts FILE is required"; fi
  if [ ! -f "$file" ] || [ ! -r "$file" ]; then usage_error "cannot read the hosts file '$file'"; fi
  refuse_nul "$file"
  while IFS= read -r text || [ -n "$text" ]; do
    number=$((number + 1))
    text=${text%$'\r'}
    line=${text%%#*}
    [[ ${line//$'\t'/} != *[[:cntrl:]]* ]] || hosts_file_error "$file" $number "$text" "a line without control characters"
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
      is_user_name "$user" || hosts_file_error "$file" $number "$text" "$user_form"
    fi
    if [[ $host =~ ^\[([0-9A-Fa-f:.]+)\](:([1-9][0-9]{0,5}))?$ ]]; then
      host=${BASH_REMATCH[1]}
      slots=${BASH_REMATCH[3]:-1}
    elif [[ $host =~ ^([^:]+):([1-9][0-9]{0,5})$ ]]; then
      host=${BASH_REMATCH[1]}
      slots=${BASH_REMATCH[2]}
    fi
    is_host_name "$host" || hosts_file_error "$file" $number "$text" "$form"
    read -r -a pairs <<<"$line" # unlike an unquoted $line, without file name expansion
    for key in ${pairs[@]+"${pairs[@]}"}; do
      value=${key#*=}
      [[ $key =~ ^[A-Za-z_-]+=[^=]+$ ]] || hosts_file_error "$file" $number "$text" "$form"
      key=${key%%=*}
      case ${key//-/_} in # as in bootstrap/core/schedulers/hostfile.cpp
        slots | cpu | count)
          is_slots "$value" || hosts_file_error "$file" $number "$text" "a number of slots, at least 1"
          slots=$value
          ;;
        max_slots | slots_max | max_cpu | cpu_max | max_count | count_max)
          is_slots "$value" || hosts_file_error "$file" $number "$text" "a number as max_slots, at least 1"
          max_slots=$value
          ;;
        user_name | username | user)
          is_user_name "$value" || hosts_file_error "$file" $number "$text" "$user_form"
          user=$value
          ;;
        boards | sockets | sockets_per_board | cores | cores_per_socket | cpu_set | port | binding | ifname) ;;
        *)
          hosts_file_error "$file" $number "$text" "a setting of Open MPI or MPICH, such as slots=4, max_slots=8 or user=me" \
            "correct that line; slots= is the number of ranks of a host, usually that of its GPUs"
          ;;
      esac
    done
    [ "${max_slots:-$slots}" -ge "$slots" ] || hosts_file_error "$file" $number "$text" "max_slots not less than slots"
    host=${user:+$user@}$host
    if [ -z "${slots_of[$host]-}" ]; then hosts+=("$host"); fi
    slots_of[$host]=$((${slots_of[$host]-0} + slots))
  done <"$file"
  [ ${#hosts[@]} -gt 0 ] || usage_error "the hosts file '$file' names no host"
}

# Names that mean the local machine on every machine; ssh is not needed for it.
is_here() {
  case ${1#*@} in
    localhost | localhost.localdomain | ip6-localhost | 127.* | ::1) return 0 ;;
    *) return 1 ;;
  esac
}
