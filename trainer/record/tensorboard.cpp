#include "record/tensorboard.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/crc.hpp>
#include <chrono>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "hpcboot/facts.hpp"

#include "hpcboot/error.hpp"

namespace hpcboot::record {
namespace {

// Field numbers of the messages.
namespace event {
constexpr protozero::pbf_tag_type kWallTime = 1;
constexpr protozero::pbf_tag_type kStep = 2;
constexpr protozero::pbf_tag_type kFileVersion = 3;
constexpr protozero::pbf_tag_type kSummary = 5;
constexpr protozero::pbf_tag_type kSessionLog = 7;
}  // namespace event
namespace session_log {
constexpr protozero::pbf_tag_type kStatus = 1;
constexpr std::int32_t kStart = 1;
}  // namespace session_log
namespace summary {
constexpr protozero::pbf_tag_type kValue = 1;
constexpr protozero::pbf_tag_type kTag = 1;          // of a value
constexpr protozero::pbf_tag_type kSimpleValue = 2;  // of a value
constexpr protozero::pbf_tag_type kTensor = 8;       // of a value
constexpr protozero::pbf_tag_type kMetadata = 9;     // of a value
constexpr protozero::pbf_tag_type kPluginData = 1;   // of the metadata
constexpr protozero::pbf_tag_type kPluginName = 1;   // of the plugin's data
constexpr protozero::pbf_tag_type kContent = 2;      // the same
constexpr protozero::pbf_tag_type kDataClass = 4;    // of the metadata
constexpr std::int32_t kTensorClass = 2;
}  // namespace summary
namespace tensor {
constexpr protozero::pbf_tag_type kType = 1;
constexpr protozero::pbf_tag_type kShape = 2;
constexpr protozero::pbf_tag_type kDimension = 2;  // of the shape
constexpr protozero::pbf_tag_type kSize = 1;       // of a dimension
constexpr protozero::pbf_tag_type kStrings = 8;
constexpr std::int32_t kString = 7;  // the type
constexpr std::int32_t kFloat = 1;
}  // namespace tensor

// tensorboard/plugins/hparams/plugin_data.proto, and google/protobuf/struct.proto for values.
namespace hparams {
constexpr const char* kPlugin = "hparams";
constexpr protozero::pbf_tag_type kSessionStart = 3;
constexpr protozero::pbf_tag_type kSessionEnd = 4;
constexpr protozero::pbf_tag_type kEntry = 1;  // of the start: of a map
constexpr protozero::pbf_tag_type kKey = 1;
constexpr protozero::pbf_tag_type kValue = 2;
constexpr protozero::pbf_tag_type kStarted = 5;  // of the start
constexpr protozero::pbf_tag_type kStatus = 1;   // of the end
constexpr protozero::pbf_tag_type kEnded = 2;    // of the end
constexpr std::int32_t kSuccess = 1;
constexpr std::int32_t kFailure = 2;
constexpr protozero::pbf_tag_type kNumber = 2;  // of a value
constexpr protozero::pbf_tag_type kText = 3;
constexpr protozero::pbf_tag_type kBoolean = 4;
}  // namespace hparams

void add_value(protozero::pbf_writer& value, const Json& json) {
  if (json.is_boolean()) {
    value.add_bool(hparams::kBoolean, json.get<bool>());
  } else if (json.is_number()) {
    value.add_double(hparams::kNumber, json.get<double>());
  } else {
    value.add_string(hparams::kText, json.is_string() ? json.get<std::string>() : json.dump());
  }
}

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> 8 * i & 0xff));
  return text;
}

/// CRC-32C, masked as TFRecord requires.
std::string checksum(const std::string& bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  const std::uint32_t sum = crc.checksum();
  return little_endian(std::uint32_t{(sum >> 15 | sum << 17) + 0xa282ead8U}, 4);
}

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

TensorboardEvents::TensorboardEvents(const std::filesystem::path& folder)
    : file_(folder / fmt::format("events.out.tfevents.{}.{}.{}",
                                 static_cast<std::int64_t>(wall_time()), own_hostname(),
                                 ::getpid())) {
  std::string bytes;
  protozero::pbf_writer first(bytes);
  first.add_double(event::kWallTime, wall_time());
  first.add_string(event::kFileVersion, "brain.Event:2");
  append_event(bytes);
}

void TensorboardEvents::append_event(const std::string& event) {
  const std::string length = little_endian(event.size(), 8);
  file_.append(length + checksum(length) + event + checksum(event));
}

void TensorboardEvents::add_scalar(std::string_view tag, std::int64_t step, double value) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_double(event::kWallTime, wall_time());
  writer.add_int64(event::kStep, step);
  {
    protozero::pbf_writer summary(writer, event::kSummary);
    protozero::pbf_writer one(summary, summary::kValue);
    one.add_string(summary::kTag, tag.data(), tag.size());
    one.add_float(summary::kSimpleValue, static_cast<float>(value));
  }
  append_event(bytes);
}

void TensorboardEvents::add_text(std::string_view tag, std::string_view text) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_double(event::kWallTime, wall_time());
  {
    protozero::pbf_writer summary(writer, event::kSummary);
    protozero::pbf_writer one(summary, summary::kValue);
    one.add_string(summary::kTag, tag.data(), tag.size());
    {
      protozero::pbf_writer array(one, summary::kTensor);
      array.add_enum(tensor::kType, tensor::kString);
      {
        protozero::pbf_writer shape(array, tensor::kShape);
        protozero::pbf_writer dimension(shape, tensor::kDimension);
        dimension.add_int64(tensor::kSize, 1);
      }
      array.add_bytes(tensor::kStrings, text.data(), text.size());
    }
    protozero::pbf_writer metadata(one, summary::kMetadata);
    protozero::pbf_writer plugin(metadata, summary::kPluginData);
    plugin.add_string(summary::kPluginName, "text");
  }
  append_event(bytes);
}

void TensorboardEvents::add_hparams(std::string_view tag, const std::string& data) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_double(event::kWallTime, wall_time());
  {
    protozero::pbf_writer summary(writer, event::kSummary);
    protozero::pbf_writer one(summary, summary::kValue);
    one.add_string(summary::kTag, tag.data(), tag.size());
    {
      protozero::pbf_writer unused(one, summary::kTensor);
      unused.add_enum(tensor::kType, tensor::kFloat);
      protozero::pbf_writer shape(unused, tensor::kShape);
      protozero::pbf_writer dimension(shape, tensor::kDimension);
      dimension.add_int64(tensor::kSize, 0);
    }
    protozero::pbf_writer metadata(one, summary::kMetadata);
    {
      protozero::pbf_writer plugin(metadata, summary::kPluginData);
      plugin.add_string(summary::kPluginName, hparams::kPlugin);
      plugin.add_bytes(summary::kContent, data);
    }
    metadata.add_enum(summary::kDataClass, summary::kTensorClass);
  }
  append_event(bytes);
}

void TensorboardEvents::add_end(bool is_success) {
  std::string data;
  protozero::pbf_writer writer(data);
  {
    protozero::pbf_writer end(writer, hparams::kSessionEnd);
    end.add_enum(hparams::kStatus, is_success ? hparams::kSuccess : hparams::kFailure);
    end.add_double(hparams::kEnded, wall_time());
  }
  add_hparams("_hparams_/session_end_info", data);
  flush();
}

void TensorboardEvents::add_restart(std::int64_t first_step) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_double(event::kWallTime, wall_time());
  writer.add_int64(event::kStep, first_step);
  {
    protozero::pbf_writer session(writer, event::kSessionLog);
    session.add_enum(session_log::kStatus, session_log::kStart);
  }
  append_event(bytes);
}

void TensorboardEvents::add(const StepMetrics& row) {
  for (const StepColumn& column : kStepColumns)
    add_scalar("step/" + std::string(column.name), row.step, row.*column.value);
  add_scalar("step/bytes_reduced", row.step, static_cast<double>(row.bytes_reduced));
}

void TensorboardEvents::add(const EpochRecord& epoch, std::int64_t last_step) {
  for (const auto& [name, value] : epoch_values(epoch))
    add_scalar("epoch/" + name, last_step, value);
  flush();
}

void TensorboardEvents::add_config(const Json& config, double started) {
  std::string table = "| option | value |\n|---|---|\n";
  for (const auto& [name, value] : config.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    table += fmt::format("| {} | {} |\n", markdown_text(name), markdown_text(text));
  }
  add_text("config", table);
  std::string data;
  protozero::pbf_writer writer(data);
  {
    protozero::pbf_writer start(writer, hparams::kSessionStart);
    for (const auto& [name, value] : config.items()) {
      if (value.is_null()) continue;
      protozero::pbf_writer entry(start, hparams::kEntry);
      entry.add_string(hparams::kKey, name);
      protozero::pbf_writer held(entry, hparams::kValue);
      add_value(held, value);
    }
    start.add_double(hparams::kStarted, started);
  }
  add_hparams("_hparams_/session_start_info", data);
  flush();
}

}  // namespace hpcboot::record
