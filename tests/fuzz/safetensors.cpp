#include "datasets/safetensors_data.hpp"

#include <vector>

#include "data_file.hpp"
#include "fuzz.hpp"
#include "sequences.hpp"

// A safetensors file: a data set whose images can all be read, or an Error.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  static const fuzz::DataFolder kFolder;
  kFolder.write("set.safetensors", fuzz::text_of(data, size));
  fuzz::allow_error([&] {
    const auto file = data::open_safetensors(kFolder.path() / "set.safetensors");
    if (fuzz::read_sequences(file)) return;
    const auto set = data::open_split(file, data::Split::train, 0);
    std::vector<std::uint8_t> pixels(set->image_bytes());
    fuzz::require(pixels.size() * static_cast<std::size_t>(set->count()) <= size,
                  "no more pixels than the file has bytes");
    for (std::int64_t i = 0; i < set->count(); ++i) {
      std::uint8_t label = 255;
      set->read(&i, 1, pixels.data(), &label);
      fuzz::require(label < set->classes(), "a label below the number of classes");
    }
  });
  return 0;
}
