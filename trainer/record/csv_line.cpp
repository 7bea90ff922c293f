#include "record/csv_line.hpp"

#include <streambuf>

namespace hpcboot::record {

bool read_line(std::istream& in, std::string& line) {
  using Traits = std::istream::traits_type;
  line.clear();
  while (line.size() <= kLongestLine) {
    const auto next = in.rdbuf()->sbumpc();
    if (Traits::eq_int_type(next, Traits::eof())) {
      in.setstate(std::ios::eofbit);
      return !line.empty();
    }
    const char character = Traits::to_char_type(next);
    if (character == '\n') break;
    line += character;
  }
  return true;
}

}  // namespace hpcboot::record
