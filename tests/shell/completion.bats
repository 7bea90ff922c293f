#!/usr/bin/env bats
# Shell completion and the manual page say what --help says.

setup() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
}

verbs() { "$HPCBOOT" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'; }

# complete_words WORD…: what bash offers for the last word.
complete_words() {
  # shellcheck disable=SC1090
  source <("$HPCBOOT" completion bash)
  COMP_WORDS=(hpcboot "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _hpcboot
  printf '%s\n' "${COMPREPLY[@]}"
}

@test "bash completes every verb and the choices and options of each" {
  [ "$(complete_words '')" = "$(verbs && printf '%s\n' --help --version)" ]
  [ "$(complete_words sa)" = sanitize ]
  [ "$(complete_words show --ex)" = --explain ]
  [ "$(complete_words show --env-f)" = --env-file ]
  [ "$(complete_words hosts c)" = $'compress\ncount' ]
  [ "$(complete_words completion z)" = zsh ]
  [ "$(complete_words doctor --j)" = --json ]
  [ -z "$(complete_words nonsense --j)" ]
  for verb in $(verbs); do complete_words "$verb" --h | grep -qx -- --help; done
}

@test "zsh takes its script, which has every verb" {
  "$HPCBOOT" completion zsh >"$BATS_TEST_TMPDIR/_hpcboot"
  for verb in $(verbs); do grep -q "^    '$verb:" "$BATS_TEST_TMPDIR/_hpcboot"; done
  command -v zsh >/dev/null || skip "zsh is not installed: its syntax was not checked"
  zsh -fn "$BATS_TEST_TMPDIR/_hpcboot"
}

@test "another shell is a usage error" {
  run "$HPCBOOT" completion tcsh
  [ "$status" -eq 2 ]
  run "$HPCBOOT" completion
  [ "$status" -eq 2 ]
}

@test "the manual page has the help of every verb" {
  "$HPCBOOT" manual >"$BATS_TEST_TMPDIR/hpcboot.1"
  for verb in $(verbs); do grep -qx ".SH hpcboot $verb" "$BATS_TEST_TMPDIR/hpcboot.1"; done
  command -v groff >/dev/null || skip "groff is not installed: the page was not set"
  run groff -man -Tutf8 -Kutf8 -ww -z "$BATS_TEST_TMPDIR/hpcboot.1"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}
