#pragma once

#include "hpcboot/encode.hpp"
#include "json/bounded_json.hpp"
#include "machine/bench_result.hpp"
#include "plots/plot.hpp"
#include "text/table.hpp"

namespace hpcboot::machine {

/// A table for a terminal.
Encoded bench_table(const BenchResult& result, const Look& look);
/// RFC 4180, figures as measured.
Encoded bench_csv(const BenchResult& result);
Json bench_json(const BenchResult& result);
/// A line for each kind of operation, over its sizes.
plots::Plot bench_plot(const BenchResult& result);

}  // namespace hpcboot::machine
