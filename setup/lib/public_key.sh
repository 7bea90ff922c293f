# Public keys as OpenSSH writes them, in one line: [OPTIONS] TYPE BASE64 [COMMENT]. For any POSIX shell, like
# safe_files.sh.
# shellcheck shell=sh

# fingerprint LINE: fails if LINE is not a public key.
fingerprint() {
  ssh-keygen -l -f - 2>/dev/null <<END
$1
END
}

# key_body LINE: the base64 part is the key; type, comment and options around it may differ. Fails if there is none.
key_body() {
  awk '{ for (i = 1; i < NF; ++i)
           if ($i ~ /^(ssh|ecdsa|sk)-[a-z0-9@.-]+$/ && $(i + 1) ~ /^AAAA[A-Za-z0-9+\/=]+$/) { print $(i + 1); found = 1; exit } }
       END { exit !found }' <<END
$1
END
}

# public_line KEY: its public half. From KEY.pub or, if that has none in this form, from KEY itself, without asking for
# a passphrase.
public_line() {
  public_half=$(awk '!/^[ \t\r]*(#|$)/ { sub(/\r$/, ""); print; exit }' "$1.pub" 2>/dev/null) || public_half=
  if key_body "$public_half" >/dev/null && fingerprint "$public_half" >/dev/null; then
    printf '%s\n' "$public_half"
  else
    ssh-keygen -y -P '' -f "$1" 2>/dev/null </dev/null
  fi
}
