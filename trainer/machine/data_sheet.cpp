#include "machine/data_sheet.hpp"

namespace hpcboot::machine {
namespace {

constexpr DataSheet kSheets[] = {
    {"NVIDIA H200", 67, 494.7, 989.4, 989.4, 4800},
    {"NVIDIA H100 PCIe", 51, 378, 756, 756, 2000},
    {"NVIDIA H100 80GB HBM3", 67, 494.7, 989.4, 989.4, 3350},
    {"NVIDIA A100-SXM4-40GB", 19.5, 156, 312, 312, 1555},
    {"NVIDIA A100-PCIE-40GB", 19.5, 156, 312, 312, 1555},
    {"NVIDIA A100-SXM4-80GB", 19.5, 156, 312, 312, 2039},
    {"NVIDIA A100 80GB PCIe", 19.5, 156, 312, 312, 1935},
    {"NVIDIA L40S", 91.6, 183, 362, 362, 864},
    {"Tesla V100-SXM2-16GB", 15.7, 0, 125, 0, 900},
    {"Tesla V100-SXM2-32GB", 15.7, 0, 125, 0, 900},
    {"Tesla V100-PCIE-16GB", 14, 0, 112, 0, 900},
    {"Tesla V100-PCIE-32GB", 14, 0, 112, 0, 900},
    {"Quadro RTX 6000", 16.3, 0, 130.5, 0, 672},
    {"Tesla T4", 8.1, 0, 65, 0, 320},
};

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

}  // namespace

std::optional<DataSheet> data_sheet(const std::string& device) {
  for (const DataSheet& sheet : kSheets) {
    if (device == sheet.name) return sheet;
  }
  return std::nullopt;
}

std::optional<double> promised_flops(const std::string& device, const std::string& dtype) {
  const auto sheet = data_sheet(device);
  if (!sheet) return std::nullopt;
  double tera = 0;
  if (dtype == "fp32") tera = sheet->fp32;
  if (dtype == "tf32") tera = sheet->tf32;
  if (dtype == "fp16") tera = sheet->fp16;
  if (dtype == "bf16") tera = sheet->bf16;
  return tera > 0 ? std::optional(tera * kTera) : std::nullopt;
}

std::optional<double> promised_bandwidth(const std::string& device) {
  const auto sheet = data_sheet(device);
  return sheet ? std::optional(sheet->memory * kGiga) : std::nullopt;
}

}  // namespace hpcboot::machine
