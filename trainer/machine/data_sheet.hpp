#pragma once

#include <optional>
#include <string>

namespace hpcboot::machine {

/// What the maker of a device promises.
struct DataSheet {
  const char* name;  ///< as the driver reports it: a part of a card (MIG) has another one
  double fp32;       ///< TFLOP/s
  double tf32;       ///< the same, with tensor cores and dense matrices; 0: has none
  double fp16;       ///< the same
  double bf16;       ///< the same
  double memory;     ///< GB/s
};

/// From NVIDIA's data sheets of these products; none for others, and for processors, whose sheets
/// give no figures of this kind.
/// @param device as the driver names it
std::optional<DataSheet> data_sheet(const std::string& device);

/// FLOP/s for a type: fp32, tf32, fp16, bf16; none for others.
std::optional<double> promised_flops(const std::string& device, const std::string& dtype);
/// Bytes/s of the device's memory.
std::optional<double> promised_bandwidth(const std::string& device);

}  // namespace hpcboot::machine
