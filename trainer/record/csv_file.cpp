#include "record/csv_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "record/output_error.hpp"

namespace hpcboot::record {
namespace {

/// Whether a non-empty file exists; if so, it is prepared for more rows.
bool goes_on(const std::filesystem::path& path, std::string_view header,
             const CsvFile::Keeps& keeps) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(path, absent);
  if (absent || size == 0) return false;
  std::error_code error;
  std::filesystem::resize_file(path, CsvFile::kept_text(path, header, keeps).size(), error);
  if (error) throw output_error("write", path, error.value());
  return true;
}

}  // namespace

CsvFile::CsvFile(const std::filesystem::path& path, std::string_view header, const Keeps& keeps)
    : is_new_(!goes_on(path, header, keeps)), file_(path) {
  if (is_new_) file_.append(header);
}

std::string CsvFile::kept_text(const std::filesystem::path& path, std::string_view header,
                               const Keeps& keeps) {
  require_usable(path, header);
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::size_t kept = std::min(header.size(), text.size());
  while (true) {
    const std::size_t end = text.find('\n', kept);
    if (end == std::string::npos || !keeps(std::string_view(text).substr(kept, end - kept))) break;
    kept = end + 1;
  }
  text.resize(kept);
  return text;
}

void CsvFile::require_usable(const std::filesystem::path& path, std::string_view header) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return;
  std::string begin;
  if (std::filesystem::is_regular_file(status)) {
    begin.resize(header.size());
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(file.gcount()));
    if (begin.empty() || begin == header) return;
    begin = " begins with '" + begin.substr(0, begin.find('\n')) + "'";
  } else {
    begin = " is not a regular file";
  }
  throw Error(ErrorCode::malformed_file, fmt::format("'{}'{}", path.string(), begin),
              fmt::format("the header '{}'", header.substr(0, header.size() - 1)),
              "move that file away, or start a new run");
}

}  // namespace hpcboot::record
