# `hpcboot lint`: the reader of shell scripts, every rule, whole scripts.
hpcboot_add_test(NAME lint_tests
  SOURCES
    bootstrap/jobs/lint/job_request_test.cpp
    bootstrap/jobs/lint/lint_golden_test.cpp
    bootstrap/jobs/lint/lint_rules_test.cpp
    bootstrap/jobs/lint/script_test.cpp
    bootstrap/jobs/lint/shell_reader_test.cpp
  LIBRARIES hpcboot_lint LABELS unit)
