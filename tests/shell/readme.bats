#!/usr/bin/env bats
# What README.md shows is what there is.

setup() { cd "$BATS_TEST_DIRNAME/../.." || return 1; }

@test "README's C++ example is the program that the package test builds and runs" {
  example=$(sed -n '/^```cpp$/,/^```$/p' README.md | sed '1d;/^```$/,$d')
  [ -n "$example" ]
  [ "$example" = "$(cat tests/package/find_package_torch/main.cpp)" ]
}

@test "README's exit codes are those of the code" {
  in_code=$(grep -oE '^  [a-z_0-9]+ = [0-9]+,' bootstrap/include/hpcboot/error.hpp | tr -d ' ,' | awk -F= '{print $2 " " $1}')
  in_readme=$(grep -oE '^\| [0-9]+ \| `[a-z_0-9]+`' README.md | tr -d '|`' | awk '{print $1 " " $2}')
  [ -n "$in_code" ]
  [ "$in_code" = "$in_readme" ]
}

@test "every file that README links to is there" {
  while read -r link; do
    [ -e "$link" ] || { echo "missing: $link"; return 1; }
  done < <(grep -oE '\]\([^)#]+\)' README.md | tr -d '()]' | grep -v '^http')
}
