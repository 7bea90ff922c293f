#include "datasets/pt_data.hpp"

#include <vector>

#include "data_file.hpp"
#include "fuzz.hpp"
#include "sequences.hpp"

// A file of torch.save(), read by LibTorch, which is built without sanitizers and trusts its input:
// the data that it returns must be within its own memory when we copy it.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  static const fuzz::DataFolder kFolder;
  kFolder.write("set.pt", fuzz::text_of(data, size));
  fuzz::allow_error([&] {
    const auto file = data::open_pt(kFolder.path() / "set.pt");
    if (fuzz::read_sequences(file)) return;
    const auto set = data::open_split(file, data::Split::train, 0);
    std::vector<std::uint8_t> pixels(set->image_bytes());
    for (std::int64_t i = 0; i < set->count(); ++i) {
      std::uint8_t label = 255;
      set->read(&i, 1, pixels.data(), &label);
      fuzz::require(label < set->classes(), "a label below the number of classes");
    }
  });
  return 0;
}
