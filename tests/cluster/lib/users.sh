# shellcheck shell=bash
# The users of the hosts: those of this machine, with root's home moved to the scratch folder, and one
# ordinary user, tester. The files of this machine are read, never written.

readonly TESTER_ID=4242

write_users() {
  local etc=$STATE/etc
  awk -F: -v OFS=: -v home="$STATE/home/root" '$1 == "tester" { next } $1 == "root" { $6 = home } { print }' \
    /etc/passwd > "$etc/passwd"
  printf 'tester:x:%d:%d:ordinary user:%s:/bin/bash\n' $TESTER_ID $TESTER_ID "$STATE/home/tester" >> "$etc/passwd"
  grep -v '^tester:' /etc/group > "$etc/group"
  printf 'tester:x:%d:\n' $TESTER_ID >> "$etc/group"
  # The hosts need no password of this machine: "*" disables password logins, and keys still work.
  (umask 077; awk -F: '{ print $1 ":*:19000:0:99999:7:::" }' "$etc/passwd" > "$etc/shadow")

  mkdir -p "$STATE"/{home/root,home/tester,shared}
  chmod 700 "$STATE"/home/{root,tester}
  chmod 1777 "$STATE/shared"
  chown $TESTER_ID:$TESTER_ID "$STATE/home/tester"
  setpriv --reuid $TESTER_ID --regid $TESTER_ID --clear-groups test -x "$STATE/home/tester" ||
    die "an ordinary user cannot reach $STATE: set HPCBOOT_CLUSTER_DIR to a folder that all may enter"
}
