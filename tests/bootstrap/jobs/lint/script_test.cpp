#include "jobs/lint/script.hpp"

#include <gtest/gtest.h>

namespace hpcboot::lint {
namespace {

TEST(Script, IsTheShellsIfItsFirstLineSaysSo) {
  for (const char* line : {"", "hostname", "#!", "#!/bin/bash", "#!/bin/bash -l", "#! /bin/sh",
                           "#!\t/bin/dash", "#!/usr/bin/env bash", "#!/usr/bin/env  -S  bash -l",
                           "#!/usr/local/bin/zsh", "#!ksh", "#!/bin/ash", "#!/usr/bin/env"})
    EXPECT_TRUE(read_script(line + std::string("\nx\n")).is_shell) << line;
  for (const char* line : {"#!/usr/bin/python3", "#!/usr/bin/env python3", "#!/bin/tcsh",
                           "#! /usr/bin/env -S python3 -u", "#!/opt/bash/awk"})
    EXPECT_FALSE(read_script(line + std::string("\nx\n")).is_shell) << line;
}

}  // namespace
}  // namespace hpcboot::lint
