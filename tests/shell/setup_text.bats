#!/usr/bin/env bats
# Untrusted text at its sinks: the encoders of setup/lib/text.sh, and setup's programs when a remote host, a hosts
# file, a file name or an environment variable contains control characters or commands.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh

setup() {
  real_ssh=$(command -v ssh)
  folder=$BATS_TEST_DIRNAME/../../setup
  make_lab
  hosts=$BATS_TEST_TMPDIR/hosts
}

# Sourced only in a subshell: it has a function with the name of a bats helper.
text() { bash -c '. "$0/lib/text.sh"; "$@"' "$folder" "$@"; }

# All of $output is printable ASCII and newlines.
plain_output() { [ -z "$(printf %s "$output" | LC_ALL=C tr -d '\n\040-\176')" ]; }

# hostile_words: text that clears the screen and draws another line, with C0, C1, bidi and newlines.
hostile_words() { printf '\033[2Jx\007\010\177\302\2331m\342\200\256y\rhpcboot\n%s' "${1-lab2 yes yes}"; }

@test "--help of every script of setup/ and of jobscripts/build fits 80 columns" {
  mapfile -t scripts < <(grep -d skip -lE '^#!' "$folder"/*)
  [ "${#scripts[@]}" -ge 8 ]
  for script in "${scripts[@]}" "$folder/../jobscripts/build"; do
    run bash "$script" --help
    echo "$script: $output"
    [ "$status" -eq 0 ]
    [[ $output == *usage:* ]]
    run env LC_ALL=C.UTF-8 grep -nE '.{81}' <<<"$output"
    echo "$output"
    [ "$status" -eq 1 ]
  done
}

@test "printable: control characters are shown, ordinary text goes through" {
  [ "$(text printable $'a\eb')" = 'a\x1bb' ]
  [ "$(text printable $'a\nb\rc\td')" = 'a\nb\rc\td' ]
  [ "$(text printable $'\x01\x7f')" = '\x01\x7f' ]
  [ "$(text printable $'\xc2\x80\xc2\x9b\xc2\x9f')" = '\xc2\x80\xc2\x9b\xc2\x9f' ]
  for hidden in $'\xd8\x9c' $'\xe2\x80\x8e' $'\xe2\x80\x8f' $'\xe2\x80\xa8' $'\xe2\x80\xae' $'\xe2\x81\xa6' $'\xe2\x81\xa9' $'\xef\xbb\xbf' \
    $'\xe2\x80\x8b' $'\xe2\x81\xa0' $'\xe2\x81\xaa' $'\xef\xbf\xb9' $'\xf3\xa0\x81\x81' $'\xc2\xad' $'\xcd\x8f' \
    $'\xe1\xa0\x8e' $'\xe1\x85\x9f'; do
    [[ $(text printable "a${hidden}b") =~ ^a(\\x[0-9a-f]{2})+b$ ]]
  done
  for ordinary in 'plain text, {}$"'\''' 'Grüße, Łódź' '日本語' '👍🏽' $'\xc2\xa0' ''; do
    [ "$(text printable "$ordinary")" = "$ordinary" ]
  done
}

@test "printable: bytes that are no UTF-8 are shown, whatever the locale" {
  for locale in C C.UTF-8 POSIX; do
    export LC_ALL=$locale
    [ "$(text printable $'\x9b1m')" = '\x9b1m' ]
    [ "$(text printable $'a\xc3')" = 'a\xc3' ]
    [ "$(text printable $'\xe2\x80')" = '\xe2\x80' ]
    [ "$(text printable $'\xc0\x9b\xe0\x80\x9b\xf0\x80\x80\x9b')" = '\xc0\x9b\xe0\x80\x9b\xf0\x80\x80\x9b' ]
    [ "$(text printable $'\xed\xa0\x80\xf4\x90\x80\x80\xff')" = '\xed\xa0\x80\xf4\x90\x80\x80\xff' ]
    [ "$(text printable $'\xc3\e[1m\xbc')" = '\xc3\x1b[1m\xbc' ]
    [ "$(text printable 'ü')" = ü ]
  done
}

@test "printable needs no other program" {
  run env -i PATH=/nowhere "$(command -v bash)" -c '. "$0/lib/text.sh"; printable "$1"' "$folder" $'\e\xc2\x9bü'
  [ "$status" -eq 0 ]
  [ "$output" = '\x1b\xc2\x9bü' ]
}

@test "shell_word: any text is one word to sh, bash and a shell that it is pasted into" {
  for word in plain '' 'a b' "it's" '$(reboot)' '`x`' 'a;b' '~' '=ls' $'new\nline' 'x"y\z' '*' '-n' '!'; do
    [ "$(sh -c "printf '%s.' $(text shell_word "$word")")" = "$word." ]
    [ "$(bash -c "printf '%s.' $(text shell_word "$word")")" = "$word." ]
  done
  [ "$(text shell_word /home/me/.ssh/id_ed25519)" = /home/me/.ssh/id_ed25519 ]
}

@test "ssh_config_word: ssh reads the very value, and what cannot be written is refused" {
  for value in /home/me/key '/home/a b/key' '/home/50%h/key' "/home/o'neil/key" '/home/a#b/key' '/home/a=b/key'; do
    run env -u LC_ALL "$real_ssh" -F none -G -o "IdentityFile=$(text ssh_config_word "$value")" host
    [ "$status" -eq 0 ]
    [[ $output == *"identityfile ${value//%/%%}"* ]]
  done
  # shellcheck disable=SC1003 # a backslash
  for value in $'a\nProxyCommand touch x' $'a\rb' 'a"b' 'a\' '${HOME}/x' $'\e'; do
    run text ssh_config_word "$value"
    [ "$status" -eq 1 ]
    [ -z "$output" ]
  done
}

@test "json_string: valid JSON of any bytes, which steers no terminal" {
  for value in plain 'a"b\c' $'\e[2J\n\t\x7f' $'\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81' ü👍; do
    [ "$(text json_string "$value" | python3 -c 'import json, sys; sys.stdout.write(json.load(sys.stdin))')" = "$value" ]
  done
  run text json_string $'\e\xc2\x9b\xe2\x80\xae\xff'
  [ "$output" = '"\u001b\u009b\u202e\ufffd"' ]
  [ "$(text json_string $'\xf0\x9d\x85\xb3\xf3\xa0\x81\x81')" = '"\ud834\udd73\udb40\udc41"' ]
}

@test "what a remote host says is shown without steering the terminal or forging a line" {
  bash "$folder/ssh-setup" generate
  for host in lab1 lab2; do make_host $host; done
  printf '%s\n' lab1 lab2 >"$hosts"
  # ssh's own messages, with text of the other side in them.
  hostile_words $'lab2  yes  yes  -  0.1  -' >"$lab/words"
  mv "$fake/ssh" "$fake/ssh.plain"
  fake_command ssh <<'SH'
case $* in *"-G"*) exec ssh.plain "$@" ;; esac
cat "$lab/words" >&2
exit 255
SH
  for verb in check verify "authorize --yes"; do
    # shellcheck disable=SC2086 # words are words
    run bash "$folder/ssh-setup" $verb --hosts "$hosts"
    [ "$status" -eq 1 ]
    plain_output
    [[ $output == *'\x1b[2Jx'* ]]
    [ "$(grep -c '^lab2 ' <<<"$output")" -eq 1 ]
  done
  run bash "$folder/check-hosts" --hosts "$hosts"
  plain_output
  [[ $output == *'\x1b[2Jx'* ]]
  run bash "$folder/login-shell" --hosts "$hosts"
  plain_output
  [ "$(grep -c '^lab2 ' <<<"$output")" -eq 1 ]
}

@test "a host's answers to authorize and login-shell are encoded" {
  bash "$folder/ssh-setup" generate
  make_host lab1
  let_in lab1
  echo lab1 >"$hosts"
  { printf 'echo "hpcboot:ok"; printf "hpcboot:did '; hostile_words '' | tr -d '\n'; printf '\\nhpcboot:done\\n"; echo "hpcboot:user '; hostile_words '' | tr -d '\n'; echo '"'; } | command_file "$fake/hostile"
  echo hostile >"$lab/lab1.shell"
  run bash "$folder/ssh-setup" authorize --yes --hosts "$hosts"
  plain_output
  [[ $output == *'lab1: \x1b[2Jx'* ]]
  run bash "$folder/login-shell" --hosts "$hosts"
  plain_output
}

@test "login-shell: what chsh says over there is encoded, and an account's name is a word of its command" {
  bash "$folder/ssh-setup" generate
  make_host lab1
  let_in lab1
  echo lab1 >"$hosts"
  host_command lab1 getent <<<'echo user:x:1:1::/:/bin/tcsh'
  host_command lab1 id <<<'case $1 in -u) echo 1 ;; *) echo user ;; esac'
  host_command lab1 chsh <<'SH'
printf 'Password: \033[2J\n'
SH
  run bash "$folder/login-shell" --hosts "$hosts" --set /bin/bash
  plain_output
  [[ $output == *'Password: \x1b[2J'* ]]
  host_command lab1 id <<<'case $1 in -u) echo 0 ;; *) echo "x;touch\$IFS$lab/owned" ;; esac'
  run bash "$folder/login-shell" --hosts "$hosts" --set /bin/bash
  [ "$status" -eq 1 ]
  [ ! -e "$lab/owned" ]
}

@test "check-hosts: the facts of a host are text, not commands of this one" {
  bash "$folder/ssh-setup" generate
  make_host lab1
  let_in lab1
  echo lab1 >"$hosts"
  fake_command facts <<SH
printf 'hpcboot:os \033[2Jevil\302\2331m\n'
echo 'hpcboot:memory_mib hosts[\$(touch $lab/owned)]'
echo 'hpcboot:cores hosts[\$(touch $lab/owned)]'
echo 'hpcboot:mpi %s%n"\\'
printf 'hpcboot:driver 1\t!\tx\rlab1\n'
printf 'hpcboot:gpu a\007b\nhpcboot:interface eth0\033c 10.0.0.1/8\n'
echo 'hpcboot:time hosts[\$(touch $lab/owned)]'
SH
  echo facts >"$lab/lab1.shell"
  run bash "$folder/check-hosts" --hosts "$hosts"
  [ "$status" -eq 1 ]
  [ ! -e "$lab/owned" ]
  plain_output
  [[ $output == *'\x1b[2Jevil\xc2\x9b1m'* ]]
  [[ $output == *'lab1: driver is 1\t!\tx\rlab1, not '* || $output == *'1\t!\tx\rlab1'* ]]
  [ "$(grep -c '^lab1 ' <<<"$output")" -eq 1 ]
  run bash "$folder/check-hosts" --hosts "$hosts" --json
  [ ! -e "$lab/owned" ]
  plain_output
  python3 -c 'import json, sys; d = json.loads(sys.argv[1]); assert d["hosts"][0]["os"] == "\x1b[2Jevil\x9b1m", d; assert d["hosts"][0]["memory_mib"] is None' "$output"
}

@test "a host that does not stop to speak does not stop this one" {
  bash "$folder/ssh-setup" generate
  make_host lab1
  let_in lab1
  echo lab1 >"$hosts"
  # shellcheck disable=SC2028 # for another shell
  fake_command chatter <<'SH'
printf 'hpcboot:os '; head -c 3000000 /dev/zero | tr '\0' '\033'; echo
head -c 3000000 /dev/zero | tr '\0' '\033' >&2
exit 255
SH
  echo chatter >"$lab/lab1.shell"
  run timeout 30 bash "$folder/check-hosts" --hosts "$hosts"
  [ "$status" -eq 1 ]
  plain_output
  [ "${#output}" -lt 100000 ]
}

@test "--mesh: the comment of a host's key brings no control characters to the others" {
  bash "$folder/ssh-setup" generate
  for host in lab1 lab2; do make_host $host; let_in $host; done
  printf '%s\n' lab1 lab2 >"$hosts"
  ssh-keygen -q -t ed25519 -N '' -C $'evil\e[2J\xc2\x9b' -f "$lab/lab1/.ssh/id_ed25519"
  run bash "$folder/ssh-setup" authorize --yes --mesh --hosts "$hosts"
  grep -qF "$(cut -d ' ' -f 2 "$lab/lab1/.ssh/id_ed25519.pub")" "$lab/lab2/.ssh/authorized_keys"
  [ -z "$(LC_ALL=C tr -d '\n\040-\176' <"$lab/lab2/.ssh/authorized_keys")" ]
}

@test "names of files and the environment are encoded, and commands to paste are whole" {
  mkdir -m 755 "$BATS_TEST_TMPDIR"/$'home\e[2J;touch owned'
  other=$BATS_TEST_TMPDIR/$'home\e[2J;touch owned'
  chmod 775 "$other"
  for words in generate "generate --dry-run" "check --hosts $folder/hosts.txt" "authorize --yes --hosts $folder/hosts.txt"; do
    # shellcheck disable=SC2086 # words are words
    run env HOME="$other" bash "$folder/ssh-setup" $words
    plain_output
  done
  [[ $output == *"chmod go-w '"* ]]
  for words in $'--\e[2J' $'--hosts\n/nowhere\e' $'--folder\n\e'; do
    mapfile -t list <<<"$words"
    for script in ssh-setup check-hosts login-shell get-libtorch get-mnist get-cifar; do
      run bash "$folder/$script" "${list[@]}"
      [ "$status" -eq 2 ]
      plain_output
    done
  done
}

@test "get-mnist and get-libtorch: what a mirror and a file of versions say is encoded" {
  fake_command curl <<'SH'
printf 'curl: (22) \033[2Jowned\r\n' >&2
exit 22
SH
  run bash "$folder/get-mnist" --dir "$BATS_TEST_TMPDIR/mnist" --mirror $'http://localhost:1/\e[1m'
  [ "$status" -eq 1 ]
  plain_output
  [[ $output == *'\x1b[2Jowned'* ]]
  run bash "$folder/get-mnist" --dry-run --dir "$BATS_TEST_TMPDIR"/$'m\e' --mirror $'http://localhost:1/\e[1m'
  plain_output
  printf '2.1 torch\033==2.1 1 %064d -\n' 0 >"$BATS_TEST_TMPDIR/lock"
  run bash "$folder/get-libtorch" --lock "$BATS_TEST_TMPDIR/lock" --dry-run --dir "$BATS_TEST_TMPDIR"/$'d\e'
  plain_output
}

# shown URL: what shown_url prints, and nothing else.
shown() { bash -c '. "$0/lib/messages.sh"; shown_url "$1"' "$folder" "$1"; }

@test "shown_url: no password, token or query" {
  [ "$(shown https://example.org/mnist/)" = https://example.org/mnist/ ]
  [ "$(shown http://joe:hunter2@example.org:80/mnist/)" = "http://joe:***@example.org:80/mnist/" ]
  [ "$(shown http://joe:hun@ter2@example.org)" = "http://joe:***@example.org" ]
  [ "$(shown http://joe:hun/ter?2@example.org/x)" = "http://joe:***@example.org/x" ]
  [ "$(shown joe:hunter2@example.org)" = "joe:***@example.org" ]
  [ "$(shown https://hunter2@example.org/x)" = "https://***@example.org/x" ]
  [ "$(shown 'https://example.org/@x/y.zip?user=joe&sig=hunter2#hunter2')" = "https://example.org/@x/y.zip?***" ]
  [ "$(shown file:///data/a@b)" = file:///data/a@b ]
}

@test "get-mnist, get-cifar and get-libtorch show no password, token or query" {
  local url='http://joe:hunter2@127.0.0.1:9/mnist/' signed='http://joe:hunter2@127.0.0.1:9/x.zip?sig=hunter2' command option
  for command in "get-mnist --mirror $url" "get-cifar --mirror $url" "get-libtorch --cpu --archive $signed"; do
    for option in --timeout=9 --dry-run; do
      # shellcheck disable=SC2086 # a command and its options
      run "$folder"/$command --dir "$BATS_TEST_TMPDIR/new" ${option/=/ }
      echo "$output"
      [ "$status" -eq "$([ $option = --dry-run ] && echo 0 || echo 1)" ]
      [[ $output == *"http://joe:***@127.0.0.1:9/"* && $output != *hunter2* ]]
    done
  done
}

@test "a key or a home folder whose name ssh would read in another way is used as it is, or refused" {
  bash "$folder/ssh-setup" generate
  make_host lab1
  let_in lab1
  echo me@lab1 >"$hosts"
  mkdir "$BATS_TEST_TMPDIR/100%h"
  cp "$HOME/.ssh/id_ed25519" "$HOME/.ssh/id_ed25519.pub" "$BATS_TEST_TMPDIR/100%h/"
  run bash "$folder/ssh-setup" authorize --yes --config --hosts "$hosts" --identity "$BATS_TEST_TMPDIR/100%h/id_ed25519"
  run env -u LC_ALL "$real_ssh" -F "$HOME/.ssh/config.hpcboot" -G lab1
  [[ $output == *"identityfile $BATS_TEST_TMPDIR/100%%h/id_ed25519"* ]]
  mkdir "$BATS_TEST_TMPDIR"/$'new\nProxyCommand touch owned'
  cp "$HOME/.ssh/id_ed25519" "$BATS_TEST_TMPDIR"/$'new\nProxyCommand touch owned/key'
  before=$(tree_hash "$HOME")
  run bash "$folder/ssh-setup" authorize --yes --config --hosts "$hosts" \
    --identity "$BATS_TEST_TMPDIR"/$'new\nProxyCommand touch owned/key'
  [ "$status" -eq 1 ]
  [[ $output == *"found: "*"expected: "*"do: "* ]]
  [ "$(tree_hash "$HOME")" = "$before" ]
}
