# The result of a connection, from ssh's exit code and messages, and its remedy.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# state_of CODE WORDS: open, denied, crowded, expired, unknown, changed, broken, or why it is not reachable: refused,
# nameless, silent, unreachable.
state_of() {
  local code=$1 words=$2
  case $code in
    0) echo open; return ;;
    124 | 137) echo silent; return ;;
  esac
  case $words in
    *"IDENTIFICATION HAS CHANGED"* | *"host key for"*"has changed"*) echo changed ;;
    *"Host key verification failed"* | *"host key is known for"*) echo unknown ;;
    *"Too many authentication failures"*) echo crowded ;;
    *"Password change required"* | *"password has expired"*) echo expired ;;
    *"Permission denied"*) echo denied ;;
    *"Connection refused"*) echo refused ;;
    *"Could not resolve"* | *"Name or service not known"*) echo nameless ;;
    *"timed out"* | *"Timeout"*) echo silent ;;
    *"No route to host"* | *"unreachable"* | *"Connection closed"* | *"Connection reset"*) echo unreachable ;;
    *) if [ "$code" -eq 255 ]; then echo unreachable; else echo broken; fi ;;
  esac
}

# remedy_of STATE HOST CODE WORDS
remedy_of() {
  local host=${2#*@} words=${4:0:400}
  words=${words% }
  case $1 in
    open) echo - ;;
    denied | unknown) remedy_without_key "$1" "$2" "$4" ;;
    crowded) crowded_remedy ;;
    expired) echo "the password has expired there: ssh $2 in a terminal, and choose a new one" ;;
    changed) echo "its host key changed: ask its administrator; if it was reinstalled: ssh-keygen -R $host" ;;
    refused) echo "start sshd there, or correct the port in ~/.ssh/config" ;;
    nameless) echo "its name does not resolve here: correct the hosts file, or use the address" ;;
    silent) echo "no answer in $timeout s: switched off, a firewall, or a wrong address?" ;;
    unreachable) printf '%s\n' "${words:-ssh exited with $3}" ;;
    broken) printf '%s\n' "the login shell exited with $3 before the command${words:+ ($words)}: check ~/.cshrc, ~/.bashrc there" ;;
  esac
}

# sshd counts each key that is offered. With --identity only a jump host is offered those of the agent.
crowded_remedy() {
  if [ -z "$identity" ]; then
    echo "the agent offers more keys than sshd takes: use --identity KEY with an accepted key, or ssh-add -D"
  else
    echo "the agent or ~/.ssh/config offers more keys than sshd takes: ssh-add -D, or fewer lines IdentityFile"
  fi
}

declare -A unread_host # by name: true if ssh-keyscan got no host key

# unknown_remedy HOST: ssh-keyscan knows no jump host of ssh's configuration.
unknown_remedy() {
  local through=
  if [ -z "$jump" ]; then through=$(settings_of "$1" | sed -n 's/^proxyjump //p'); fi
  if is_endpoint "$through"; then
    echo "ssh-setup authorize --jump $through (shows the host key's fingerprint)"
  elif [ -n "${unread_host[$1]-}" ]; then
    echo "ssh-keyscan gets no host key from it: ssh $1 in a terminal, and compare the fingerprint"
  else
    echo "ssh-setup authorize (shows the host key's fingerprint)"
  fi
}

# remedy_without_key STATE HOST WORDS. After choose_key, it also depends on which keys exist.
remedy_without_key() {
  if [ "${public_key-unknown}" = "" ] && [ -n "${damaged_key-}" ]; then
    echo "move $(shell_word "$damaged_key") away, then ssh-setup generate and authorize"
  elif [ "${public_key-unknown}" = "" ] && [ -n "${unread_key-}" ]; then
    public_remedy "$unread_key"
    echo "; then ssh-setup authorize"
  elif [ "${public_key-unknown}" = "" ]; then
    echo "ssh-setup generate, then authorize"
  elif [ "$1" = unknown ]; then
    unknown_remedy "$2"
  elif [ -n "${locked_key-}" ]; then
    echo "ssh-add $(shell_word "$locked_key") (asks for its passphrase once)"
  else
    case $3 in
      *password* | *keyboard-interactive*) echo "ssh-setup authorize, in a terminal: it asks for your password there" ;;
      *) echo "it accepts keys only: use --identity with an accepted key, or ask its administrator to add yours" ;;
    esac
  fi
}

is_reachable() {
  case $1 in
    open | denied | crowded | expired | unknown | changed | broken) return 0 ;;
    *) return 1 ;;
  esac
}
