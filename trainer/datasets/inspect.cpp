#include "datasets/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "datasets/safetensors_data.hpp"
#include "datasets/terminal_image.hpp"
#include "hpcboot/error.hpp"
#include "record/sharded_safetensors.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace hpcboot::data {
namespace {

constexpr std::int64_t kImageWidth = 28;

SplitInfo inspect_split(const char* name, const Dataset& set, std::int64_t images) {
  SplitInfo split{name, set.count(), "", set.shape(), set.pixel_type(), set.classes(), {}, {}};
  std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(images, set.count())));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  std::vector<std::uint8_t> pixels(indices.size() * set.image_bytes());
  std::vector<std::uint8_t> labels(indices.size());
  set.read(indices.data(), static_cast<std::int64_t>(indices.size()), pixels.data(), labels.data());
  split.labels.assign(labels.begin(), labels.end());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    split.drawn.push_back(draw_image(pixels.data() + i * set.image_bytes(), set.shape(),
                                     set.pixel_type(), kImageWidth));
  }
  return split;
}

std::string side_text(const SequenceSide& side) {
  return fmt::format("{} ({})", to_string(side.shape), type_name_of(side.type));
}

SplitInfo inspect_sequences(const char* name, const SequenceSet& set) {
  SplitInfo split;
  split.name = name;
  split.count = set.count();
  split.sequences = side_text(set.source()) + " to " + side_text(set.target());
  return split;
}

std::string type_text(PixelType type) {
  return type == PixelType::u8 ? "uint8" : "float32";
}

Encoded arrays_table(const std::vector<ArrayInfo>& arrays) {
  TextTable table(std::vector<Align>(5, Align::left));
  table.add({"array", "type", "shape", "chunk", "filters"});
  for (const ArrayInfo& array : arrays) {
    table.add({array.name, array.type_name, array.trouble.empty() ? shape_text(array.shape) : "-",
               array.chunk.empty() ? "-" : shape_text(array.chunk),
               array.filters.empty() ? "-" : array.filters});
  }
  Encoded text = table.text();
  for (const ArrayInfo& array : arrays) {
    if (!array.trouble.empty()) text += terminal_text(array.name + ": " + array.trouble) + "\n";
  }
  return text;
}

/// As many images side by side as the terminal has room for.
Encoded images_row(const SplitInfo& split, std::int64_t width) {
  if (split.drawn.empty()) return {};
  const std::int64_t columns = std::min(split.shape.cols, kImageWidth);
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(1, width / (columns + 2)));
  const std::size_t shown = std::min(room, split.drawn.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{:<{}}  ", fmt::format("label {}", split.labels[i]), columns);
  }
  text += "\n";
  for (std::size_t line = 0; line < split.drawn.front().size(); ++line) {
    for (std::size_t i = 0; i < shown; ++i) text += split.drawn[i][line] + "  ";
    text += "\n";
  }
  return Encoded::as_is(std::move(text));  // drawn here, with block characters
}

/// The tensors of a model in several files.
Inspection inspect_model(const std::string& place, const std::filesystem::path& folder) {
  Inspection inspection;
  inspection.place = place;
  inspection.format = "safetensors";
  inspection.arrays = tensors_of_model(folder);
  inspection.remark = "a model in several files";
  return inspection;
}

}  // namespace

Inspection inspect(const std::string& place, std::int64_t images) {
  if (const auto folder = record::folder_of_model(place)) return inspect_model(place, *folder);
  const Format& format = format_of(place);
  Inspection inspection;
  inspection.place = place;
  inspection.format = format.name;
  if (format.arrays != nullptr) inspection.arrays = format.arrays(place)->arrays();
  const bool of_sequences = are_sequences(place);
  for (const auto& [split, name] :
       {std::pair{Split::train, "train"}, std::pair{Split::test, "test"}}) {
    try {
      inspection.splits.push_back(
          of_sequences ? inspect_sequences(name, *format.open_sequences(place, split, 0))
                       : inspect_split(name, *format.open(place, split, 0), images));
    } catch (const Error& error) {
      // Any file of arrays can be inspected; that it is not a data set is only a remark.
      if (format.arrays == nullptr) throw;
      if (inspection.remark.empty()) {
        inspection.remark = error.found() + "; expected: " + error.expected();
      }
    }
  }
  return inspection;
}

Encoded to_text(const Inspection& inspection, std::int64_t width) {
  Encoded text = encoded_format("{}: {}\n", inspection.place, inspection.format);
  if (!inspection.arrays.empty()) text += "\n" + arrays_table(inspection.arrays);
  for (const SplitInfo& split : inspection.splits) {
    if (!split.sequences.empty()) {
      text += encoded_format("\n{}: {} pairs of sequences, {}\n", split.name, split.count,
                             split.sequences);
      continue;
    }
    text += encoded_format("\n{}: {} images of {} ({}), {} classes\n", split.name, split.count,
                           to_string(split.shape), type_text(split.type), split.classes);
    text += images_row(split, width);
  }
  if (!inspection.remark.empty())
    text += encoded_format("\nno data set to train on: {}\n", inspection.remark);
  return text;
}

Json to_json(const Inspection& inspection) {
  Json json = {{"place", inspection.place},
               {"format", inspection.format},
               {"arrays", Json::array()},
               {"halves", Json::array()},
               {"remark", nullptr}};
  for (const ArrayInfo& array : inspection.arrays) {
    json["arrays"].push_back({{"name", array.name},
                              {"type", array.type_name},
                              {"shape", array.shape},
                              {"chunk", array.chunk},
                              {"filters", array.filters},
                              {"trouble", array.trouble}});
  }
  for (const SplitInfo& split : inspection.splits) {
    if (!split.sequences.empty()) {
      json["halves"].push_back(
          {{"name", split.name}, {"pairs", split.count}, {"sequences", split.sequences}});
      continue;
    }
    json["halves"].push_back({{"name", split.name},
                              {"images", split.count},
                              {"channels", split.shape.channels},
                              {"rows", split.shape.rows},
                              {"columns", split.shape.cols},
                              {"classes", split.classes},
                              {"type", type_text(split.type)}});
  }
  if (!inspection.remark.empty()) json["remark"] = inspection.remark;
  return json;
}

}  // namespace hpcboot::data
