# Hosts that are folders, and a fake ssh that connects to them, for the tests of setup/. A host is $lab/NAME,
# the home of its user; beside it are NAME.key, its host key, NAME.is, its fault (down, hangs, expired
# or none), NAME.shell, its login shell, and NAME.bin, commands that only it has. NAME.config has the
# settings for it of ssh's configuration, UserKnownHostsFile and ProxyJump. If $lab/agent exists, there is an agent
# with more keys than a host's sshd takes.

make_lab() {
  lab=$BATS_TEST_TMPDIR/lab
  fake=$BATS_TEST_TMPDIR/bin
  HOME=$BATS_TEST_TMPDIR/home
  mkdir -p "$lab" "$fake" "$HOME"
  chmod 755 "$HOME"
  export lab HOME
  unset SSH_AUTH_SOCK SSH_AGENT_PID
  fake_command getent <<'SH'
if [ "$1" = passwd ]; then echo "user:x:$(id -u):1000::$HOME:${FAKE_LOGIN_SHELL-/bin/bash}"; fi
SH
  fake_command ssh-keyscan <<'SH'
host=${!#}
if [ ! -e "$lab/$host.is" ] || grep -qE 'down|hangs' "$lab/$host.is"; then exit 1; fi
echo "$host $(cut -d ' ' -f 1,2 "$lab/$host.key.pub")"
SH
  fake_command ssh <"$BATS_TEST_DIRNAME/fake_ssh"
  PATH=$fake:$PATH
}

# fake_command NAME: creates a command of that name, whose body is read from standard input.
fake_command() { command_file "$fake/$1"; }

# host_command HOST NAME: the same on one host.
host_command() { command_file "$lab/$1.bin/$2"; }

command_file() {
  { echo '#!/bin/bash'; cat; } >"$1"
  chmod +x "$1"
}

# make_host NAME [WHAT-IS-WRONG]
make_host() {
  mkdir -m 755 "$lab/$1" "$lab/$1.bin"
  ssh-keygen -q -t ed25519 -N '' -C "$1" -f "$lab/$1.key"
  echo "${2-}" >"$lab/$1.is"
  echo sh >"$lab/$1.shell"
}

# let_in HOST: adds the user's key to its authorized_keys, and the host to known_hosts.
let_in() {
  [ -d "$lab/$1/.ssh" ] || mkdir -m 700 "$lab/$1/.ssh"
  cat "$HOME"/.ssh/id_ed25519.pub >>"$lab/$1/.ssh/authorized_keys"
  echo "$1 $(cut -d ' ' -f 1,2 "$lab/$1.key.pub")" >>"$HOME/.ssh/known_hosts"
}

# shellcheck disable=SC2154 # $output is of run
# cell HOST COLUMN: a cell of ssh-setup's table in $output; the columns are host reachable passwordless hops seconds.
cell() { awk -v host="$1" -v column="$2" '$1 == host && $2 ~ /yes|no|here/ { print $column }' <<<"$output"; }

# A hash of everything in the folders: names, modes, contents.
tree_hash() { find "$@" -printf '%p %m %s %l\n' -type f -exec sha256sum {} + | sort | sha256sum; }
