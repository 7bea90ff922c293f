#!/usr/bin/env bats
# The verb run-agent, which hpcboot run starts on its hosts and which is hidden from users.

bats_require_minimum_version 1.5.0

setup() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
}

@test "neither --help nor completion nor the manual has it" {
  local text
  for text in --help "completion bash" "completion zsh" manual; do
    # shellcheck disable=SC2086 # words
    run -0 "$HPCBOOT" $text
    [[ $output != *run-agent* ]]
  done
}

@test "it refuses people" {
  run -2 "$HPCBOOT" run-agent --help
  [[ $output == *"run-agent is started by hpcboot run"* ]]
  command -v script >/dev/null || skip "script(1) makes the terminal"
  run -2 timeout 30 script -qec "'$HPCBOOT' run-agent" /dev/null
  [[ $output == *"run-agent is started by hpcboot run"* ]]
}

@test "it ends if it is not told what to start" {
  run -1 timeout 30 "$HPCBOOT" run-agent </dev/null
  [ -z "$output" ]
}
