#include "datasets/pickle_nesting.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace hpcboot::data {
namespace {

/// Data sets and models nest only a few dicts and lists.
constexpr std::size_t kDeepest = 64;

bool is_one_of(char code, std::string_view codes) {
  return codes.find(code) != std::string_view::npos;
}

/// The index in the pickle's memo: little-endian bytes, or a line of decimal digits.
std::uint64_t place_of(char code, std::string_view operand) {
  std::uint64_t place = 0;
  if (is_one_of(code, "pg")) {
    std::from_chars(operand.data(), operand.data() + operand.size(), place);
    return place;
  }
  for (std::size_t i = operand.size(); i-- > 0;)
    place = place << 8 | static_cast<std::uint8_t>(operand[i]);
  return place;
}

}  // namespace

bool PickleNesting::has(std::size_t parts) {
  const std::size_t below = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() - below < parts) is_broken_ = true;
  return !is_broken_;
}

std::size_t PickleNesting::marked() const {
  return stack_.size() - marks_.back();
}

/// Replaces the last `parts` of the stack by an object made of them.
PickleNesting::Node PickleNesting::make(std::size_t parts) {
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(parts);
  parts_.emplace_back(first, stack_.end());
  stack_.erase(first, stack_.end());
  stack_.push_back(static_cast<Node>(parts_.size() - 1));
  return stack_.back();
}

void PickleNesting::make_of_marked() {
  const std::size_t parts = marked();
  marks_.pop_back();
  make(parts);
}

/// Moves the last `parts` of the stack into the object before them.
void PickleNesting::put_into(std::size_t parts) {
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(parts);
  auto& into = parts_[*(first - 1)];
  if (*(first - 1) != 0) into.insert(into.end(), first, stack_.end());
  stack_.erase(first, stack_.end());
}

void PickleNesting::put_marked() {
  const std::size_t parts = marked();
  marks_.pop_back();
  if (has(parts + 1)) put_into(parts);
}

void PickleNesting::see(char code, std::string_view operand) {
  if (is_broken_) return;
  if (code == '(') {
    marks_.push_back(stack_.size());
  } else if (is_one_of(code, "tldoieu1")) {  // takes everything since the mark
    if (marks_.empty()) {
      is_broken_ = true;
    } else if (is_one_of(code, "eu")) {
      put_marked();
    } else if (code == '1') {
      stack_.resize(marks_.back());
      marks_.pop_back();
    } else {
      make_of_marked();
    }
  } else if (is_one_of(code, "}])")) {
    make(0);
  } else if (is_one_of(code, "\x85Q")) {
    if (has(1)) make(1);
  } else if (is_one_of(code, "\x86R\x81")) {
    if (has(2)) make(2);
  } else if (code == '\x87') {
    if (has(3)) make(3);
  } else if (is_one_of(code, "ab")) {
    if (has(2)) put_into(1);
  } else if (code == 's') {
    if (has(3)) put_into(2);
  } else if (code == '0') {
    if (has(1)) stack_.pop_back();
  } else if (code == '2') {
    if (has(1)) stack_.push_back(stack_.back());
  } else if (is_one_of(code, "qrp")) {
    if (has(1)) memory_[place_of(code, operand)] = stack_.back();
  } else if (is_one_of(code, "hjg")) {
    const auto found = memory_.find(place_of(code, operand));
    if (found == memory_.end()) {
      is_broken_ = true;
    } else {
      stack_.push_back(found->second);
    }
  } else if (code != '\x80') {  // a number, a text, a name
    stack_.push_back(0);
  }
}

std::string PickleNesting::damage(const std::string& name) const {
  if (is_broken_) return name + " uses an object that does not exist";
  // An iterative search, not recursion: the objects may be nested to any depth.
  constexpr std::size_t kUnknown = 0;
  constexpr std::size_t kOpen = ~std::size_t{0};
  std::vector<std::size_t> depths(parts_.size(), kUnknown);
  std::vector<std::pair<Node, std::size_t>> path;  // with how many of its parts are done
  for (Node root = 0; root < parts_.size(); ++root) {
    if (depths[root] != kUnknown) continue;
    path.emplace_back(root, 0);
    depths[root] = kOpen;
    while (!path.empty()) {
      auto& [node, done] = path.back();
      if (done < parts_[node].size()) {
        const Node part = parts_[node][done++];
        if (depths[part] == kOpen) return "an object of " + name + " contains itself";
        if (depths[part] != kUnknown) continue;
        depths[part] = kOpen;
        path.emplace_back(part, 0);
        continue;
      }
      std::size_t deepest = 0;
      for (const Node part : parts_[node]) deepest = std::max(deepest, depths[part]);
      depths[node] = deepest + 1;
      if (depths[node] > kDeepest) {
        return "objects of " + name + " are nested more than " + std::to_string(kDeepest) + " deep";
      }
      path.pop_back();
    }
  }
  return {};
}

}  // namespace hpcboot::data
