#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

/// How a secret is told, one file each. All read the text as it was: what one of them takes out may
/// be what another knows a secret by.
namespace hpcboot::redaction {

/// A part of a text that is a secret.
struct Span {
  std::size_t begin, end;
};
using Spans = std::vector<Span>;

/// urls.cpp: user information before an @, and what follows the host or "hooks/" in an address that
/// is itself the permission to post.
void find_in_addresses(std::string_view text, Spans& found);

/// key_forms.cpp: keys that their issuers made recognisable.
void find_known_keys(std::string_view text, Spans& found);

/// assignments.cpp: what stands after a private name ("password=x", "--token x", JSON, XML,
/// headers).
void find_assignments(std::string_view text, Spans& found);

/// commands.cpp: arguments that a program takes as a password ("mysql -px", "wandb login x").
/// `name` is that of the variable that holds the text: MYSQL_OPTIONS are options of mysql.
void find_in_commands(std::string_view text, std::string_view name, Spans& found);

/// disorder.cpp: 28 and more letters of both cases and digits, as random as a key.
void find_random(std::string_view text, Spans& found);

/// disorder.cpp: is it a key of a service that gives its keys no form of their own? For values of
/// names that is_name_of_service() knows: from 14 characters on.
bool is_disorderly(std::string_view value);

/// names.cpp: does the name have a service in it that hands out keys without a form (WANDB, COMET)?
bool is_name_of_service(std::string_view name);

}  // namespace hpcboot::redaction
