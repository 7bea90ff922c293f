#include "datasets/pickle_evaluator.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace hpcboot::data {
namespace {

constexpr const char* kIntact = "an intact pickle";
constexpr std::size_t kShown = 80;  // bytes of a name in a message

/// The operands of GLOBAL that are known, and what PickleValue::text is for them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kGlobals = {
    {{"numpy.core.multiarray\n_reconstruct\n", "_reconstruct"},
     {"numpy._core.multiarray\n_reconstruct\n", "_reconstruct"},
     {"numpy\nndarray\n", "ndarray"},
     {"numpy\ndtype\n", "dtype"},
     {"_codecs\nencode\n", "encode"}}};

/// Python 3 writes bytes as a text with a character for each: UTF-8 of U+0000 to U+00FF.
std::string latin1_of(const PickleValue& text) {
  std::string bytes;
  bytes.reserve(text.text.size());
  for (std::size_t i = 0; i < text.text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text.text[i]);
    if (byte < 0x80) {
      bytes.push_back(text.text[i]);
      continue;
    }
    const bool has_next = i + 1 < text.text.size();
    const auto next = has_next ? static_cast<std::uint8_t>(text.text[i + 1]) : std::uint8_t{0};
    if ((byte != 0xc2 && byte != 0xc3) || (next & 0xc0) != 0x80) {
      throw PickleError(text.offset, "a text with characters that are not bytes",
                        "characters up to U+00FF, as Python 3 writes bytes in protocol 2");
    }
    bytes.push_back(static_cast<char>((byte & 3U) << 6U | (next & 0x3fU)));
    ++i;
  }
  return bytes;
}

std::int64_t signed_of(std::string_view bytes) {
  std::uint64_t value = little_endian(bytes, bytes.size());
  if (!bytes.empty() && bytes.size() < 8 && (static_cast<std::uint8_t>(bytes.back()) & 0x80) != 0)
    value |= ~std::uint64_t{0} << 8 * bytes.size();
  return static_cast<std::int64_t>(value);
}

}  // namespace

const PickleValue* PickleEvaluator::run() {
  PickleReader reader(pickle_, PickleValues::kName);
  while (const auto instruction = reader.next()) {
    now_ = *instruction;
    follow();
  }
  now_.offset = reader.offset();
  if (!reader.has_stopped()) fail("the end of the file", "the STOP that ends a pickle");
  return pop();
}

void PickleEvaluator::fail(const std::string& found, const std::string& expected) const {
  throw PickleError(now_.offset, found, expected);
}

PickleValue& PickleEvaluator::push(Kind kind) {
  PickleValue& value = values_.values_.emplace_back();
  value.kind = kind;
  value.offset = now_.offset;
  stack_.push_back(&value);
  return value;
}

PickleValue* PickleEvaluator::pop() {
  const std::size_t below = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= below) fail("an instruction without an object to use", kIntact);
  PickleValue* const value = stack_.back();
  stack_.pop_back();
  return value;
}

void PickleEvaluator::move_parts(PickleValue& value, std::size_t first) {
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(first);
  value.parts.insert(value.parts.end(), begin, stack_.end());
  stack_.erase(begin, stack_.end());
}

std::size_t PickleEvaluator::pop_mark() {
  if (marks_.empty()) fail("an instruction without its mark", kIntact);
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  return mark;
}

PickleValue& PickleEvaluator::container(std::size_t first, Kind kind) {
  const std::size_t below = marks_.empty() ? 0 : marks_.back();
  if (first <= below) fail("items without an object for them", kIntact);
  PickleValue& value = *stack_[first - 1];
  if (value.kind != kind) fail("items for " + description_of(value), "a list or a dict");
  if (kind == Kind::dict && (stack_.size() - first) % 2 != 0) fail("a key without value", kIntact);
  return value;
}

void PickleEvaluator::put(std::size_t parts, Kind kind) {
  if (stack_.size() < parts) fail("an instruction without an object to use", kIntact);
  const std::size_t first = stack_.size() - parts;
  move_parts(container(first, kind), first);
}

void PickleEvaluator::put_marked(Kind kind) {
  const std::size_t mark = pop_mark();
  move_parts(container(mark, kind), mark);
}

void PickleEvaluator::make_marked(Kind kind) {
  const std::size_t mark = pop_mark();
  if (kind == Kind::dict && (stack_.size() - mark) % 2 != 0) fail("a key without value", kIntact);
  PickleValue& value = push(kind);
  stack_.pop_back();
  move_parts(value, mark);
  stack_.push_back(&value);
}

void PickleEvaluator::make_tuple(std::size_t parts) {
  const std::size_t below = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() - below < parts) fail("an instruction without an object to use", kIntact);
  marks_.push_back(stack_.size() - parts);
  make_marked(Kind::tuple);
}

void PickleEvaluator::push_text(std::size_t size_of_length) {
  push(Kind::text).text = now_.operand.substr(size_of_length);
}

void PickleEvaluator::push_long() {
  const std::string_view bytes = now_.operand.substr(1);
  if (bytes.size() > 8) fail("an integer of " + std::to_string(bytes.size()) + " bytes", "8");
  push(Kind::integer).integer = signed_of(bytes);
}

void PickleEvaluator::push_line() {
  std::string_view line = now_.operand.substr(0, now_.operand.size() - 1);
  if (now_.code == 'I' && (line == "00" || line == "01")) {
    push(Kind::boolean).integer = line == "01" ? 1 : 0;
    return;
  }
  if (!line.empty() && line.back() == 'L') line.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc{} || end != line.data() + line.size())
    fail("'" + std::string(line.substr(0, kShown)) + "'", "an integer of 64 bits");
  push(Kind::integer).integer = value;
}

void PickleEvaluator::push_global() {
  const auto* const known = std::find_if(
      kGlobals.begin(), kGlobals.end(), [&](const auto& one) { return one.first == now_.operand; });
  if (known != kGlobals.end()) {
    push(Kind::global).text = known->second;
    return;
  }
  std::string name(now_.operand.substr(0, now_.operand.size() - 1));
  std::replace(name.begin(), name.end(), '\n', '.');
  fail("the name '" + name.substr(0, kShown) + "'",
       "only names of NumPy's arrays; nothing is imported or run");
}

void PickleEvaluator::call() {
  PickleValue* const arguments = pop();
  PickleValue* const callee = pop();
  if (callee->kind != Kind::global || arguments->kind != Kind::tuple || callee->text == "ndarray") {
    fail("a call of " + description_of(*callee), "only calls that create NumPy's arrays");
  }
  if (callee->text == "encode") {
    push_encoded(*arguments);
  } else {
    push(Kind::call).parts = {callee, arguments};
  }
}

void PickleEvaluator::push_encoded(const PickleValue& arguments) {
  const auto& parts = arguments.parts;
  if (parts.size() != 2 || parts[0]->kind != Kind::text || parts[1]->kind != Kind::text ||
      parts[1]->text != "latin1") {
    fail("a call of _codecs.encode that does not write bytes", "encode(text, 'latin1')");
  }
  // The same text may be encoded any number of times.
  if (parts[0]->text.size() > room_) fail("more bytes than the pickle contains", kIntact);
  room_ -= parts[0]->text.size();
  values_.decoded_.push_back(latin1_of(*parts[0]));
  push(Kind::text).text = values_.decoded_.back();
}

void PickleEvaluator::build() {
  const PickleValue* const state = pop();
  PickleValue* const object = pop();
  if (object->kind != Kind::call || object->parts.size() != 2)
    fail("a state for " + description_of(*object), "only the state of an array or its type");
  object->parts.push_back(state);
  stack_.push_back(object);
}

std::uint64_t PickleEvaluator::memo_index() const {
  std::uint64_t index = 0;
  if (now_.code != 'p' && now_.code != 'g') return little_endian(now_.operand, now_.operand.size());
  std::from_chars(now_.operand.data(), now_.operand.data() + now_.operand.size(), index);
  return index;
}

void PickleEvaluator::recall() {
  const auto found = memo_.find(memo_index());
  if (found == memo_.end()) fail("an object that was never stored", kIntact);
  stack_.push_back(found->second);
}

void PickleEvaluator::memoize() {
  PickleValue* const newest = pop();
  stack_.push_back(newest);
  memo_[memo_index()] = newest;
}

void PickleEvaluator::check_protocol() const {
  const auto protocol = static_cast<std::uint8_t>(now_.operand.front());
  if (protocol > 2)
    fail("a pickle of protocol " + std::to_string(protocol), PickleValues::kProtocols);
}

void PickleEvaluator::follow() {
  switch (now_.code) {
    // clang-format off
    case '\x80': return check_protocol();
    case '(': return marks_.push_back(stack_.size());
    case '0': pop(); return;
    case '1': return stack_.resize(pop_mark());
    case '2': stack_.push_back(pop()); stack_.push_back(stack_.back()); return;
    case 'N': push(Kind::none); return;
    case '\x88': case '\x89': push(Kind::boolean).integer = now_.code == '\x88' ? 1 : 0; return;
    case 'K': case 'M':
      push(Kind::integer).integer =
          static_cast<std::int64_t>(little_endian(now_.operand, now_.operand.size()));
      return;
    case 'J': push(Kind::integer).integer = signed_of(now_.operand); return;
    case '\x8a': return push_long();
    case 'I': case 'L': return push_line();
    case 'U': return push_text(1);
    case 'T': case 'X': return push_text(4);
    case ']': push(Kind::list); return;
    case '}': push(Kind::dict); return;
    case ')': push(Kind::tuple); return;
    case 'l': return make_marked(Kind::list);
    case 'd': return make_marked(Kind::dict);
    case 't': return make_marked(Kind::tuple);
    case '\x85': return make_tuple(1);
    case '\x86': return make_tuple(2);
    case '\x87': return make_tuple(3);
    case 'a': return put(1, Kind::list);
    case 'e': return put_marked(Kind::list);
    case 's': return put(2, Kind::dict);
    case 'u': return put_marked(Kind::dict);
    case 'c': return push_global();
    case 'R': return call();
    case 'b': return build();
    case 'p': case 'q': case 'r': return memoize();
    case 'g': case 'h': case 'j': return recall();
    // clang-format on
    default:
      break;
  }
  fail("an instruction that CIFAR's files do not have, 0x" +
           std::string(1, "0123456789abcdef"[static_cast<std::uint8_t>(now_.code) >> 4U]) +
           std::string(1, "0123456789abcdef"[static_cast<std::uint8_t>(now_.code) & 15U]),
       PickleValues::kProtocols);
}

}  // namespace hpcboot::data
