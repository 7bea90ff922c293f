#include "json/bounded_json.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/encode/utf8.hpp"
#include "core/regular_file.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

/// Builds the value from the parser's events, within the limits. It keeps the open arrays and
/// objects in a list of its own, so that nesting in the text does not use the call stack.
class Builder {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) { return fail("has binary data"); }
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Open& object = open_.back();
    if (is_known(object, name))
      return fail("has the key '" + terminal_text(name.substr(0, 60)).str() + "' twice");
    object.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& failure) {
    // 406, out_of_range: a number that JSON allows and a double cannot represent.
    constexpr int kOutOfRange = 406;
    return fail((failure.id == kOutOfRange ? "contains a number beyond the range of a double (byte "
                                           : "is not valid JSON (byte ") +
                std::to_string(position) + ")");
  }

  Json take() { return std::move(root_); }
  const std::string& problem() const { return problem_; }

 private:
  struct Open {
    Json* value;
    std::string key;                       // of the next value, in an object
    std::unordered_set<std::string> keys;  // those of a large object
  };

  // An object of Json is a list. Most are short; for a long one, a linear search for every key
  // would take quadratic time.
  static bool is_known(Open& object, const std::string& name) {
    constexpr std::size_t kShort = 24;
    const auto& members = object.value->get_ref<const Json::object_t&>();
    if (members.size() < kShort) {
      return std::any_of(members.begin(), members.end(),
                         [&](const auto& member) { return member.first == name; });
    }
    if (object.keys.empty()) {
      for (const auto& member : members) object.keys.insert(member.first);
    }
    return !object.keys.insert(name).second;
  }

  bool fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }

  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Open& parent = open_.back();
    if (parent.value->is_array()) {
      parent.value->push_back(std::move(value));
      return &parent.value->back();
    }
    // Appends to the list itself: the object's own emplace() would search for the key again.
    Json::object_t::Container& members = parent.value->get_ref<Json::object_t&>();
    members.emplace_back(std::move(parent.key), std::move(value));
    return &members.back().second;
  }

  bool add(Json value) {
    if (++values_ > limits_.values)
      return fail("contains more than " + std::to_string(limits_.values) + " values");
    place(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (open_.size() >= limits_.depth)
      return fail("is nested more than " + std::to_string(limits_.depth) + " levels deep");
    if (++values_ > limits_.values)
      return fail("contains more than " + std::to_string(limits_.values) + " values");
    open_.push_back({place(std::move(value)), {}, {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  Json root_;
  std::vector<Open> open_;
  std::size_t values_ = 0;
  std::string problem_;
};

}  // namespace

Json parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    throw JsonError("has " + std::to_string(text.size()) + " bytes, more than " +
                    std::to_string(limits.bytes));
  }
  Builder builder(limits);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) throw JsonError(builder.problem());
  return builder.take();
}

Json read_json_file(const std::filesystem::path& file, const JsonLimits& limits) {
  RegularFileStream stream(file);
  if (stream.error() != 0) {
    throw Error(ErrorCode::unreadable_file,
                "cannot read '" + file.string() + "': " + stream.reason(), "a readable file",
                "check the path and its permissions");
  }
  // Reading one byte beyond the limit is enough to detect a file that is too long.
  std::string text;
  text.resize(static_cast<std::size_t>(std::min<std::uintmax_t>(stream.size(), limits.bytes + 1)));
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  try {
    return parse_json(text, limits);
  } catch (const JsonError& problem) {
    throw Error(ErrorCode::malformed_file, "'" + file.string() + "' " + problem.what(), "JSON",
                "restore that file, or remove its folder");
  }
}

Encoded json_text(const Json& value, int indent) {
  const std::string text = value.dump(indent, ' ', false, Json::error_handler_t::replace);
  // In a dump, only strings contain characters beyond ASCII, so each of them can be replaced by an
  // escape.
  std::string safe;
  safe.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    const std::string_view bytes = rest.substr(0, character.bytes);
    rest.remove_prefix(character.bytes);
    if ((character.bytes == 1 && bytes.front() != 0x7F) || is_printable(bytes)) {
      safe += bytes;
    } else {
      const std::string escaped =
          Json(std::string(bytes)).dump(-1, ' ', character.bytes > 1);  // "\u009b"
      safe += character.bytes > 1 ? escaped.substr(1, escaped.size() - 2) : "\\u007f";
    }
  }
  return Encoded::as_is(std::move(safe));
}

}  // namespace hpcboot
