#include "datasets/places.hpp"

namespace hpcboot::data {

std::string known_places() {
  std::string text;
  for (const std::string_view place :
       {places::kSequences, places::kSynthetic, places::kHdf5, places::kSafetensors, places::kPt,
        places::kCifar, places::kMnist}) {
    const char* const separator = text.find(" or ") == std::string::npos ? " or " : ", ";
    text = std::string(place) + (text.empty() ? "" : separator) + text;
  }
  return text;
}

}  // namespace hpcboot::data
