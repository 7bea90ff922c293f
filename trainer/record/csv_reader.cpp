#include "record/csv_reader.hpp"

#include <algorithm>

#include "core/regular_file.hpp"
#include "record/csv_line.hpp"

namespace hpcboot::record {
namespace {

namespace fs = std::filesystem;

/// Of lines that are too long: a node that fails may leave a gap of zeros in a table.
constexpr std::streamsize kMostSkipped = std::streamsize{64} << 20U;

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char one = line[i];
    if (is_quoted) {
      if (one != '"') {
        fields.back() += one;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else {
        is_quoted = false;
      }
    } else if (one == '"') {
      is_quoted = true;
    } else if (one == ',') {
      fields.emplace_back();
    } else {
      fields.back() += one;
    }
  }
  return fields;
}

}  // namespace

CsvReader::CsvReader(std::istream& in) : in_(in) {
  read_line(in_, line_);
  if (line_.size() > kLongestLine) line_.clear();
  const std::vector<std::string> names = fields_of(line_);
  columns_ = names.size();
  for (std::size_t i = 0; i < names.size(); ++i) places_.emplace(names[i], i);
}

bool CsvReader::next() {
  while (skipped_ < kMostSkipped && read_line(in_, line_)) {
    if (line_.size() > kLongestLine) {
      in_.ignore(kMostSkipped - skipped_, '\n');
      skipped_ += in_.gcount();
      continue;
    }
    fields_ = fields_of(line_);
    if (fields_.size() == columns_) return true;
  }
  return false;
}

std::string CsvReader::text(const std::string& column) const {
  const auto place = places_.find(column);
  return place == places_.end() || place->second >= fields_.size() ? "" : fields_[place->second];
}

std::string csv_tail(const fs::path& file, std::size_t bytes) {
  RegularFileStream in(file);
  std::string header(kLongestLine, '\0');
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  header.resize(static_cast<std::size_t>(in.gcount()));
  const std::size_t end = header.find('\n');
  if (end == std::string::npos) return "";
  header.resize(end + 1);

  in.clear();
  const std::size_t size = in.size();
  // One byte more: if it ends a line, the line after it is whole.
  const std::size_t begin = std::max(header.size(), size > bytes ? size - bytes : 0) - 1;
  in.seekg(static_cast<std::streamoff>(begin));
  std::string rows(std::max(size, begin) - begin, '\0');
  in.read(rows.data(), static_cast<std::streamsize>(rows.size()));
  rows.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
  const std::size_t first = rows.find('\n');
  const std::size_t last = rows.rfind('\n');  // the writer may be in the middle of a line
  if (first == std::string::npos || last == first) return header;
  return header + rows.substr(first + 1, last - first);
}

}  // namespace hpcboot::record
