// The figures of trainer bench: what they count, and what data sheets promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/bench_text.hpp"
#include "machine/data_sheet.hpp"

namespace hpcboot::machine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

BenchResult result() {
  BenchResult made;
  made.kind = "matmul";
  made.device = "NVIDIA H200";
  made.columns = {"dtype", "size"};
  made.note = "A note.";
  made.rows = {{{"bf16", "1024"}, 1024, {2e-3, 1e-3, 4e-3, 9}, 0, 2e12, 0, 989.4e12},
               {{"bf16", "2048"}, 2048, {4e-3, 4e-3, 4e-3, 1}, 0, 1e12, 0, 989.4e12},
               {{"fp64", "1024"}, 1024, {1.5, 1, 2, 5}, 0, 3e12, 0, std::nullopt}};
  return made;
}

TEST(DataSheet, TheWholeNameCounts) {
  EXPECT_EQ(promised_bandwidth("NVIDIA H100 PCIe"), 2000e9);
  EXPECT_EQ(promised_bandwidth("NVIDIA H100 80GB HBM3"), 3350e9);
  EXPECT_EQ(promised_flops("NVIDIA H200", "bf16"), 989.4e12);
  EXPECT_EQ(promised_flops("Tesla V100-SXM2-32GB", "fp32"), 15.7e12);
  EXPECT_EQ(promised_flops("Tesla V100-SXM2-32GB", "tf32"), std::nullopt);  // it has none
  EXPECT_EQ(promised_flops("NVIDIA H200", "fp64"), std::nullopt);
  EXPECT_EQ(promised_flops("Tesla V100-SXM2-32GB", "bf16"), std::nullopt);
  EXPECT_EQ(promised_bandwidth("NVIDIA GH200 480GB"), std::nullopt);
  EXPECT_EQ(promised_bandwidth("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), std::nullopt);
  EXPECT_EQ(promised_flops("Intel(R) Xeon(R) Processor, 2 threads", "fp32"), std::nullopt);
}

TEST(BenchText, ATableHasTheFiguresThatAnyRowHas) {
  const std::string text = bench_table(result(), {80, false}).str();
  EXPECT_THAT(text, AllOf(HasSubstr("matmul: NVIDIA H200\n"), HasSubstr("TFLOP/s  % of sheet\n"),
                          HasSubstr("bf16   1024  2.00 ms       150     1000         101\n"),
                          HasSubstr("bf16   2048  4.00 ms         –      250        25.3\n"),
                          HasSubstr("fp64   1024   1.50 s      66.7        2           –\n"),
                          HasSubstr("A note.\n")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("GB/s")));
}

TEST(BenchText, CsvAndJsonHaveFiguresAsMeasured) {
  EXPECT_THAT(bench_csv(result()).str(),
              AllOf(HasSubstr("dtype,size,seconds,seconds_low,seconds_high,samples,spread_percent,"
                              "teraflops_per_second,data_sheet_percent\n"),
                    HasSubstr("\nbf16,2048,0.004,0.004,0.004,1,,250,")));
  const Json json = bench_json(result());
  EXPECT_EQ(json["rows"][0]["teraflops_per_second"], 1000);
  EXPECT_TRUE(json["rows"][2]["data_sheet_percent"].is_null());
}

TEST(BenchText, APlotHasALineForEachKindOfOperation) {
  const plots::Plot plot = bench_plot(result());
  ASSERT_EQ(plot.panels.size(), 1U);
  const auto& series = plot.panels[0].series;
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].name, "bf16");
  ASSERT_EQ(series[0].points.size(), 2U);
  EXPECT_EQ(series[0].points[0].x, 1024);
  EXPECT_EQ(series[0].points[0].y, 1000);
  EXPECT_EQ(series[0].points[0].low, 500);  // of the longest time
  EXPECT_EQ(series[0].points[0].high, 2000);
  EXPECT_EQ(series[0].points[1].low, std::nullopt);  // one sample has no range
  EXPECT_EQ(plot.panels[0].y_label, "TFLOP/s");
}

}  // namespace
}  // namespace hpcboot::machine
