#include "record/csv_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "core/regular_file.hpp"
#include "record/csv_line.hpp"
#include "record/output_error.hpp"

namespace hpcboot::record {

// The file is opened first, which refuses links: they must not redirect the truncation.
CsvFile::CsvFile(const std::filesystem::path& path, std::string_view header, const Keeps& keeps)
    : file_(path) {
  const std::size_t bytes = kept(path, header, keeps).bytes;
  file_.cut(bytes);
  if (bytes == 0) file_.append(header);
}

CsvFile::Kept CsvFile::kept(const std::filesystem::path& path, std::string_view header,
                            const Keeps& keeps) {
  require_usable(path, header);
  RegularFileStream file(path);
  std::string line;
  const auto has_whole_line = [&] {
    return read_line(file, line) && !file.eof() && line.size() <= kLongestLine;
  };
  Kept kept;
  if (!has_whole_line()) return kept;  // a crash may cut the header
  for (kept.bytes = header.size(); has_whole_line() && keeps(line); kept.bytes += line.size() + 1)
    kept.last_row = line;
  return kept;
}

void CsvFile::require_usable(const std::filesystem::path& path, std::string_view header) {
  RegularFileStream file(path);
  std::string begin(header.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  const bool is_other = file.error() == EISDIR || file.error() == EINVAL;
  // One that cannot be read is missing, or cannot be continued, which AppendFile reports.
  if (!is_other && begin == header.substr(0, begin.size())) return;
  begin = is_other ? " is not a regular file"
                   : " begins with '" +
                         begin.substr(0, std::min<std::size_t>(60, begin.find('\n'))) + "'";
  throw Error(ErrorCode::malformed_file, fmt::format("'{}'{}", path.string(), begin),
              fmt::format("the header '{}…'", header.substr(0, 60)),
              "move that file away, or start a new run");
}

}  // namespace hpcboot::record
