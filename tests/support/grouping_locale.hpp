#pragma once

#include <locale>
#include <string>

namespace hpcboot::test {

/// For its lifetime, the program's streams write 1000 as "1,000", or with another separator, as
/// after std::locale::global(std::locale("")) in many languages.
class GroupingLocale {
 public:
  explicit GroupingLocale(char separator)
      : before_(
            std::locale::global(std::locale(std::locale::classic(), new Thousands(separator)))) {}
  ~GroupingLocale() { std::locale::global(before_); }
  GroupingLocale(const GroupingLocale&) = delete;
  GroupingLocale& operator=(const GroupingLocale&) = delete;

 private:
  class Thousands : public std::numpunct<char> {
   public:
    explicit Thousands(char separator) : separator_(separator) {}

   protected:
    char do_thousands_sep() const override { return separator_; }
    std::string do_grouping() const override { return "\3"; }

   private:
    char separator_;
  };

  std::locale before_;
};

}  // namespace hpcboot::test
