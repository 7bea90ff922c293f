#include "datasets/hdf5_data.hpp"

#include <vector>

#include "data_file.hpp"
#include "fuzz.hpp"
#include "sequences.hpp"

// libhdf5 checks the results of its allocations.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

// An HDF5 file, read by a libhdf5 built without sanitizers: a data set whose images can all be
// read, or an Error. If the library itself crashes, it does so in the child process.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  static const fuzz::DataFolder kFolder;
  kFolder.write("set.h5", fuzz::text_of(data, size));
  fuzz::allow_error([&] {
    const auto file = data::open_hdf5(kFolder.path() / "set.h5");
    if (fuzz::read_sequences(file)) return;
    const auto set = data::open_split(file, data::Split::train, 0);
    constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
    std::vector<std::uint8_t> pixels(set->image_bytes());
    const auto most = static_cast<std::int64_t>(kMostBytes / pixels.size() + 1);
    for (std::int64_t i = 0; i < std::min(set->count(), most); ++i) {
      std::uint8_t label = 255;
      set->read(&i, 1, pixels.data(), &label);
      fuzz::require(label < set->classes(), "a label below the number of classes");
    }
  });
  return 0;
}
