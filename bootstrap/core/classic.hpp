#pragma once

#include <locale>
#include <utility>

namespace hpcboot {

// A stream whose numbers have the same form in every program. Other streams take the locale of the
// program that uses the library: std::locale::global(std::locale("")) makes them write 1000 as
// "1,000", and read "10,20" or "10 20" as one number.
template <typename Stream>
class Classic : public Stream {
 public:
  template <typename... Arguments>
  explicit Classic(Arguments&&... arguments) : Stream(std::forward<Arguments>(arguments)...) {
    this->imbue(std::locale::classic());
  }
};

}  // namespace hpcboot
