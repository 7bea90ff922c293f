#include "record/run_record.hpp"

#include <string>

#include "fuzz.hpp"
#include "record/runtime_table.hpp"
#include "record/table_format.hpp"

// A run.json: a record that reads back as written and has a row in every format, an Error, or
// invalid JSON.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  Json json;
  try {
    json = parse_json(fuzz::text_of(data, size));
  } catch (const JsonError&) {
    return 0;
  }
  fuzz::require(parse_json(json_text(json).str()) == json, "JSON reads back unchanged");
  fuzz::allow_error([&] {
    const record::RunRecord run = record::run_record_from_json(json, "f");
    const Json written = to_json(run);
    fuzz::require(to_json(record::run_record_from_json(written, "f")) == written,
                  "a record reads back unchanged");
    for (const char* name : {"table", "md", "csv", "json", "html"}) {
      const auto text =
          record::format_rows(record::runtime_rows({run}), *record::table_format(name)).str();
      for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        fuzz::require(is_printable(line), "no terminal control characters");
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      }
    }
  });
  return 0;
}
