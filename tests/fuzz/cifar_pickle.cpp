#include "datasets/cifar_pickle.hpp"

#include "datasets/pickle_values.hpp"
#include "fuzz.hpp"

// A batch of CIFAR's Python form: images and labels that the pickle contains, or a PickleError
// within it. Nothing is imported or run, whatever it asks for.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const std::string_view pickle = fuzz::text_of(data, size);
  for (const std::int64_t classes : {10, 100}) {
    data::CifarImages images;
    try {
      data::take_cifar_pickle(pickle, classes, 1000, images);
      fuzz::require(!images.labels.empty(), "at least one image");
    } catch (const data::PickleError& error) {
      fuzz::require(error.offset <= size, "an error is within the pickle");
      fuzz::require(*error.what() != '\0' && !error.expected.empty(), "an error has all its parts");
      fuzz::require(images.labels.empty(), "no images of a damaged pickle");
    }
    fuzz::require(images.pixels.size() == images.labels.size() * data::kCifarImage,
                  "pixels for each label");
    fuzz::require(images.pixels.size() <= size, "no more pixels than the pickle contains");
    for (const std::uint8_t label : images.labels)
      fuzz::require(label < classes, "a label below the number of classes");
  }
  return 0;
}
