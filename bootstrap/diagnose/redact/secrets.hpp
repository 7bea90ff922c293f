#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

/// The ways to recognise a secret, one file each. All read the original text: what one of them
/// removes may be what another recognises a secret by.
namespace hpcboot::redaction {

/// A part of a text that is a secret.
struct Span {
  std::size_t begin, end;
};
using Spans = std::vector<Span>;

/// Who wrote a text. A launcher's contains hosts and ports: "key-service:29400" is no assignment,
/// and "xai-gpu-1.example.org" no key.
enum class Origin { launcher, other };

/// urls.cpp: user information before an @, and what follows the host or "hooks/" in a URL that
/// itself grants permission to post.
void find_in_addresses(std::string_view text, Spans& found);

/// key_forms.cpp: keys that their issuers made recognisable.
void find_known_keys(std::string_view text, Origin origin, Spans& found);

/// assignments.cpp: values of private names ("password=x", "--token x", JSON, XML, headers).
void find_assignments(std::string_view text, Origin origin, Spans& found);

/// commands.cpp: arguments that a program takes as a password ("mysql -px", "wandb login x").
/// `name` is the variable that contains the text: MYSQL_OPTIONS are options of mysql.
void find_in_commands(std::string_view text, std::string_view name, Spans& found);

/// disorder.cpp: at least 28 letters of both cases and digits, as random as a key.
void find_random(std::string_view text, Spans& found);

/// disorder.cpp: of 100 neighbours among the letters and digits of the text, how many differ in
/// class: small letter, capital, digit.
std::size_t disorder(std::string_view text);

/// disorder.cpp: whether the value looks like a key of a service whose keys have no recognisable
/// form. For values of names that is_name_of_service() knows; at least 14 characters.
bool is_disorderly(std::string_view value);

/// names.cpp: whether the name contains a service whose keys have no recognisable form (WANDB,
/// COMET).
bool is_name_of_service(std::string_view name);

}  // namespace hpcboot::redaction
