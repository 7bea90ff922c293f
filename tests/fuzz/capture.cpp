#include "data_file.hpp"
#include "fuzz.hpp"
#include "hpcboot/resolve.hpp"
#include "input.hpp"
#include "json/capture_folder.hpp"
#include "json/facts_json.hpp"
#include "json/resolution_json.hpp"

namespace {

// Lists of very many hosts are valid but slow.
bool has_list(std::string_view text) {
  return text.find('[') != std::string_view::npos;
}

}  // namespace

// A captured rank, its files separated by form feeds: environment, host name, facts, nodefile,
// apinfo; an empty one is missing. Facts that read back as written and a consistent resolution, or
// an Error.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  static const fuzz::DataFolder kFolder;
  fuzz::Input input(fuzz::text_of(data, size));
  for (const char* name :
       {"rank0.env", "rank0.hostname", "rank0.facts.json", "rank0.nodefile", "rank0.apinfo"}) {
    const std::string_view text = input.text();
    if (name == std::string_view("rank0.env") && has_list(text)) return -1;
    if (text.empty()) {
      kFolder.remove(name);
    } else {
      kFolder.write(name, text);
    }
  }
  fuzz::allow_error([&] {
    const std::string folder = kFolder.path().string();
    fuzz::require(list_capture(folder) == std::vector<std::string>{"rank0"}, "exactly one rank");
    const CapturedRank rank = read_captured_rank(folder, "rank0");
    const Json facts = to_json(rank.facts);
    fuzz::require(to_json(facts_from_json(parse_json(json_text(facts).str()), "f")) ==
                      parse_json(json_text(facts).str()),
                  "facts read back unchanged");
    const Resolution r = resolve(rank.env, rank.facts, rank.options);
    validate(r.placement, r.launcher);
    fuzz::require(parse_json(json_text(to_json(r)).str()).is_object(),
                  "a resolution converts to a JSON object");
  });
  return 0;
}
