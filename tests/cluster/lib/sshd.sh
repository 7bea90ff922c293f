# shellcheck shell=bash
# One sshd per host; root and tester can log in without a password from every host to every host.

write_ssh() {
  local etc=$STATE/etc/ssh user dir
  mkdir -p "$etc"
  # One host key for all hosts: then one line of known_hosts is enough.
  ssh-keygen -q -t ed25519 -N '' -C cluster -f "$etc/ssh_host_ed25519_key"
  printf 'n*,10.77.0.*,fd77::* %s\n' "$(cut -d' ' -f1,2 "$etc/ssh_host_ed25519_key.pub")" > "$etc/ssh_known_hosts"
  cat > "$etc/ssh_config" << 'CONFIG'
Host *
  BatchMode yes
  ConnectTimeout 10
  StrictHostKeyChecking yes
CONFIG
  # sshd refuses connections at random beyond 10 half-open ones; MPI opens many at once.
  cat > "$etc/sshd_config" << 'CONFIG'
HostKey /etc/ssh/ssh_host_ed25519_key
PidFile /run/sshd.pid
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
MaxStartups 100:30:200
CONFIG
  for user in root tester; do
    dir=$STATE/home/$user/.ssh
    mkdir -m 700 "$dir"
    ssh-keygen -q -t ed25519 -N '' -C "$user" -f "$dir/id_ed25519"
    cp "$dir/id_ed25519.pub" "$dir/authorized_keys"
  done
  chown -R "$TESTER_ID:$TESTER_ID" "$STATE/home/tester/.ssh"
}

# On a host. It listens only on the host's address: nothing answers on 127.0.0.1, on which a compute node of
# a real cluster cannot rely either.
start_sshd() {
  mkdir -p /run/sshd
  /usr/sbin/sshd -o ListenAddress="$(host_address "$1")" -E "/var/log/sshd.log"
}
