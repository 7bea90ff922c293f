#include "record/utc_time.hpp"

#include <fmt/chrono.h>

#include <charconv>
#include <system_error>

namespace hpcboot::record {
namespace {

/// How fmt formats a time_point (UTC or local, sub-seconds) depends on its version; a tm is
/// formatted alike by all.
std::tm utc(std::chrono::system_clock::time_point time) {
  return fmt::gmtime(std::chrono::system_clock::to_time_t(time));
}

/// The number made of `length` digits at `begin`, or -1.
int digits(std::string_view text, std::size_t begin, std::size_t length) {
  int value = 0;
  const char* first = text.data() + begin;
  if (*first == '-') return -1;
  const auto result = std::from_chars(first, first + length, value);
  return result.ec == std::errc() && result.ptr == first + length ? value : -1;
}

}  // namespace

std::string iso8601_utc(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc(time));
}

std::string folder_timestamp(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y%m%d_%H%M%S}", utc(time));
}

bool is_iso8601_utc(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] != 'd' && text[i] != kForm[i]) return false;
  }
  const auto within = [](int value, int low, int high) { return value >= low && value <= high; };
  return digits(text, 0, 4) >= 0 && within(digits(text, 5, 2), 1, 12) &&
         within(digits(text, 8, 2), 1, 31) && within(digits(text, 11, 2), 0, 23) &&
         within(digits(text, 14, 2), 0, 59) && within(digits(text, 17, 2), 0, 60);  // leap second
}

}  // namespace hpcboot::record
