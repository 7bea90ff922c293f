#pragma once

#include <string>
#include <string_view>

#include "hpcboot/env.hpp"

namespace hpcboot {

/// Replaces removed text.
inline constexpr std::string_view kRedacted = "REDACTED";

/// Must the value of a variable be withheld because of its name? True for secrets (…SECRET…,
/// …PASS…, …TOKEN…, …COOKIE…, …CREDENTIAL…, …AUTH…, …WEBHOOK…, words ending in KEY also before
/// digits, words ending in PWD but PWD and OLDPWD, OTP, PSW, …_PAT, USER_PIN, SESSION_ID, AWS_*,
/// case-insensitive) and for command lines, which often contain one
/// (OMPI_ARGV, LSB_JOBNAME). Errs on the side of withholding, except for variables declared by
/// launchers and words such as PASSED and MONKEY.
bool is_private_name(std::string_view name);

/// The value with everything removed that looks like a secret: user information before an @
/// ("https://u:p@h"), webhook URLs, assignments and options with a private name ("password=x",
/// "--token x", JSON, YAML, XML), words after "Bearer" or "Basic", arguments that programs take as
/// passwords ("mysql -px", "curl -u u:p", "wandb login x"), .netrc, keys of well-known form (ghp_…,
/// hf_…, AKIA…, eyJ…), private keys, and at least 28 random letters of both cases and digits. Errs
/// on the side of removing too much. A secret that is a plain word, or hexadecimal digits without a
/// name, cannot be detected.
std::string redact_value(std::string_view value);

/// Is it a variable of a launcher, a scheduler, a device mask or a communication library? HOME,
/// PATH, PBS_O_*, SGE_O_* (the submitter's shell) and variables that a user set for other purposes
/// are not.
bool is_launch_variable(std::string_view name);

/// Which variables redact() keeps.
enum class Keep {
  launch_variables,  ///< is_launch_variable() only: what resolve() may read
  all_variables,
};

/// A snapshot that may leave the machine: variables that are not kept are removed, private ones are
/// REDACTED (or remain empty), all others pass through redact_value(). It resolves like the
/// original.
Env redact(const Env& env, Keep keep = Keep::launch_variables);

}  // namespace hpcboot
