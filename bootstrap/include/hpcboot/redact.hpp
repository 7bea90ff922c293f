#pragma once

#include <string>
#include <string_view>

#include "hpcboot/env.hpp"

namespace hpcboot {

/// Stands in place of what is taken out.
inline constexpr std::string_view kRedacted = "REDACTED";

/// Is a variable's value kept back for its name alone? Secrets (…SECRET…, …PASS…, …TOKEN…,
/// …COOKIE…, …CREDENTIAL…, …AUTH…, …WEBHOOK…, words ending in KEY also before digits, OTP,
/// SESSION_ID, AWS_*, without regard to case) and command lines, which often hold one (OMPI_ARGV,
/// LSB_JOBNAME). Errs towards yes, but for what launchers declare, and for words such as PASSED and
/// MONKEY.
bool is_private_name(std::string_view name);

/// The value without what looks like a secret in it: user information before an @
/// ("https://u:p@h"), addresses of webhooks, assignments and options with a private name
/// ("password=x", "--token x", JSON, XML), words after "Bearer" or "Basic", arguments that programs
/// take as passwords ("mysql -px", "curl -u u:p", "wandb login x"), keys of well-known form (ghp_…,
/// hf_…, AKIA…, eyJ…), private keys, 28 and more random letters of both cases and digits. Errs
/// towards taking out too much. A secret that is a plain word, or hexadecimal digits without a
/// name, cannot be told.
std::string redact_value(std::string_view value);

/// Is it a variable of a launcher, a scheduler, a device mask or a communication library? HOME,
/// PATH, PBS_O_*, SGE_O_* (the submitter's shell) and all that a user set for other ends are not.
bool is_launch_variable(std::string_view name);

/// Which variables redact() keeps.
enum class Keep {
  launch_variables,  ///< is_launch_variable() only: what resolve() may look at, and no more
  all_variables,
};

/// A snapshot that may leave the machine: variables that are not kept are gone, private ones are
/// REDACTED (or empty, where they were), the rest is redact_value(). It resolves like the original.
Env redact(const Env& env, Keep keep = Keep::launch_variables);

}  // namespace hpcboot
