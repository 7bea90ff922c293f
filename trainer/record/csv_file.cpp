#include "record/csv_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "record/output_error.hpp"

namespace hpcboot::record {

// The file is opened first, which refuses links: they must not redirect the truncation.
CsvFile::CsvFile(const std::filesystem::path& path, std::string_view header, const Keeps& keeps)
    : file_(path) {
  const std::size_t kept = kept_text(path, header, keeps).size();
  file_.cut(kept);
  if (kept == 0) file_.append(header);
}

std::string CsvFile::kept_text(const std::filesystem::path& path, std::string_view header,
                               const Keeps& keeps) {
  require_usable(path, header);
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::size_t kept = text.size() < header.size() ? 0 : header.size();  // a crash may cut the header
  while (kept > 0) {
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
    if (begin == header.substr(0, begin.size())) return;
    begin = " begins with '" + begin.substr(0, std::min<std::size_t>(60, begin.find('\n'))) + "'";
  } else {
    begin = " is not a regular file";
  }
  throw Error(ErrorCode::malformed_file, fmt::format("'{}'{}", path.string(), begin),
              fmt::format("the header '{}…'", header.substr(0, 60)),
              "move that file away, or start a new run");
}

}  // namespace hpcboot::record
