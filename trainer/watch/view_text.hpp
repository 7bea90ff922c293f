#pragma once

#include <chrono>
#include <optional>

#include "hpcboot/encode.hpp"
#include "text/table.hpp"
#include "watch/run_view.hpp"

namespace hpcboot::watch {

/// What a terminal shows of a run, in lines that fit.
/// @param silence since the last new step, if that is remarkable
Encoded view_text(const RunView& view, const Look& look,
                  std::optional<std::chrono::seconds> silence = std::nullopt);

/// The same on one line, for a log.
Encoded view_line(const RunView& view);

}  // namespace hpcboot::watch
