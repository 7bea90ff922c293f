#include "model_agreement.hpp"

#include <c10/util/Type.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <typeinfo>
#include <vector>

#include "core/classic.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"

namespace hpcboot {
namespace {

using Lines = std::vector<std::string>;

template <typename NamedTensors>
void describe(const char* kind, const NamedTensors& tensors,
              const std::vector<std::string>& ignored, bool with_gradient, Lines& lines) {
  for (const auto& item : tensors) {
    if (std::find(ignored.begin(), ignored.end(), item.key()) != ignored.end()) continue;
    Classic<std::ostringstream> line;
    line << kind << " '" << item.key() << "' of shape " << item.value().sizes() << " and type "
         << item.value().dtype();
    if (with_gradient && !item.value().requires_grad()) line << ", not trained";
    lines.push_back(line.str());
  }
}

template <typename Value>
void describe_option(const char* name, const Value& value, Lines& lines) {
  Classic<std::ostringstream> line;
  line << "option " << name << " = " << std::boolalpha << value;
  lines.push_back(line.str());
}

/// The name of its class, and its settings.
std::string type_of(const std::shared_ptr<CommunicationHook>& chosen) {
  const std::shared_ptr<CommunicationHook> hook = chosen ? chosen : all_reduce_hook();
  const CommunicationHook& object = *hook;
  return c10::demangle(typeid(object).name()) + " " + object.settings();
}

/// One line for each option on which the exchange depends.
Lines describe_options(const torch::nn::Module& module,
                       const DistributedDataParallelOptions& options) {
  const std::vector<std::string>& ignored = options.ignored_parameters;
  Lines lines;
  const auto parameters = module.named_parameters();
  const auto buffers = module.named_buffers();
  for (const std::string& name : ignored) {
    const bool known = parameters.contains(name) || buffers.contains(name);
    describe_option("ignored_parameters", name + (known ? "" : ", not in the model"), lines);
  }
  describe_option("bucket_cap_mb", options.bucket_cap_mb, lines);
  describe_option("first_bucket_mb", options.first_bucket_mb, lines);
  describe_option("broadcast_buffers", options.broadcast_buffers, lines);
  describe_option("find_unused_parameters", options.find_unused_parameters, lines);
  describe_option("static_graph", options.static_graph, lines);
  describe_option("fixed_buckets", options.fixed_buckets, lines);
  describe_option("communication_hook", type_of(options.communication_hook), lines);
  return lines;
}

Lines split(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string join(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Line `index` of a list that may be shorter than the other.
std::string entry(const Lines& lines, std::size_t index) {
  return index < lines.size() ? lines[index] : "nothing more";
}

}  // namespace

void require_same_model(const torch::nn::Module& module,
                        const DistributedDataParallelOptions& options, ProcessGroup& group) {
  require_same_model(module, describe_options(module, options), options.ignored_parameters, group);
}

void require_same_model(const torch::nn::Module& module, const std::vector<std::string>& options,
                        const std::vector<std::string>& ignored, const ProcessGroup& group) {
  Lines mine = options;
  describe("parameter", module.named_parameters(), ignored, true, mine);
  describe("buffer", module.named_buffers(), ignored, false, mine);
  const Lines expected = split(broadcast_text(group, join(mine)));

  // Each rank sends the others the first line in which it differs, so that all throw together.
  const std::size_t longest = std::max(mine.size(), expected.size());
  std::size_t first = 0;
  while (first < longest && entry(mine, first) == entry(expected, first)) ++first;
  const std::string difference =
      first == longest ? ""
                       : "has " + entry(mine, first) + ", but rank 0 has " + entry(expected, first);

  const std::vector<std::string> differences = all_gather_text(group, difference);
  for (std::size_t rank = 0; rank < differences.size(); ++rank) {
    if (differences[rank].empty()) continue;
    throw Error(ErrorCode::invalid_model_use,
                "rank " + std::to_string(rank) + " " + differences[rank],
                "the same model and options on every rank",
                "build the model from the same settings on every rank, and pass the same options; "
                "a layer must not depend on the rank or on local data");
  }
}

}  // namespace hpcboot
