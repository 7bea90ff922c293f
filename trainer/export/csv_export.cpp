#include <map>
#include <vector>

#include "export/exporter.hpp"
#include "hpcboot/encode.hpp"
#include "record/atomic_file.hpp"

namespace hpcboot::exports {
namespace {

/// A number as it is, a text safe for spreadsheets; nothing if unknown.
std::string field_of(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_number() || value.is_boolean()) return value.dump();
  return csv_field(value.is_string() ? value.get<std::string>() : value.dump());
}

class CsvExporter : public Exporter {
 public:
  explicit CsvExporter(std::filesystem::path output) : output_(std::move(output)) {}

  Exported add(const std::filesystem::path& folder, const record::RunRecord& run) override {
    const Json json = record::to_json(run);
    Row row;
    for (const auto& [name, value] : json.items()) {
      if (name == "config" || name == "versions" || name == "totals") {
        for (const auto& [inner, one] : value.items()) set(row, name + "." + inner, one);
      } else if (!value.is_structured()) {
        set(row, name, value);
      }
    }
    set(row, "ranks", run.ranks.size());
    set(row, "folder", folder.string());
    if (!run.epochs.empty()) {
      for (const auto& [name, value] : json.at("epochs").back().items())
        set(row, "last_epoch." + name, value);
    }
    rows_.push_back(std::move(row));
    return {};
  }

  std::string finish() override {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      text += (i > 0 ? "," : "") + csv_field(columns_[i]);
    text += "\n";
    for (const Row& row : rows_) {
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (i > 0) text += ",";
        if (const auto field = row.find(i); field != row.end()) text += field->second;
      }
      text += "\n";
    }
    if (output_.empty()) return text;
    record::write_named_file(output_, text);
    return {};
  }

 private:
  using Row = std::map<std::size_t, std::string>;  // the fields by their columns

  /// Columns keep the order in which they were first seen.
  void set(Row& row, const std::string& name, const Json& value) {
    const auto [place, is_new] = places_.emplace(name, columns_.size());
    if (is_new) columns_.push_back(name);
    row[place->second] = field_of(value);
  }

  std::filesystem::path output_;
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t> places_;
  std::vector<Row> rows_;
};

}  // namespace

std::unique_ptr<Exporter> csv_exporter(const std::filesystem::path& output,
                                       const std::string& /*name*/) {
  return std::make_unique<CsvExporter>(output);
}

}  // namespace hpcboot::exports
