#include <sstream>

#include "datasets/pickle_check.hpp"
#include "datasets/zip_directory.hpp"
#include "fuzz.hpp"

// The checks of a .pt file before it is passed to LibTorch: any bytes as a zip archive, and as a
// pickle. What passes takes no more memory than the file can contain.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const std::string text(fuzz::text_of(data, size));
  std::istringstream archive(text);
  const auto entries = data::read_zip_directory(archive);
  if (data::trouble_in_archive(archive).empty()) {
    fuzz::require(entries.has_value(), "an archive without trouble has a directory");
    for (const data::ZipEntry& entry : *entries) {
      fuzz::require(text.find(entry.name) != std::string::npos, "names occur in the file");
      fuzz::require(entry.stored <= size && entry.size <= (size + 1) * 1032,
                    "no file is larger than the archive can hold");
    }
  }
  const data::PickleCheck check = data::check_pickle(text);
  // The last byte alone does not matter: the instruction that ends the pickle precedes it.
  if (check.damage.empty() && !text.empty() && text.find('.') == std::string::npos)
    fuzz::require(data::check_pickle(text + ".").damage.empty(), "its end changes nothing");
  return 0;
}
