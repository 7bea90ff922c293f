#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "json/bounded_json.hpp"
#include "record/append_file.hpp"
#include "record/metrics_csv.hpp"
#include "record/run_record.hpp"

namespace hpcboot::record {

/// An event file that TensorBoard can read during the run:
/// `events.out.tfevents.<seconds>.<host>.<pid>`, a TFRecord of Event messages
/// (tensorflow/core/util/event.proto, summary.proto; the frame: core/lib/io/record_writer.cc).
/// Events are buffered as in AppendFile.
class TensorboardEvents {
 public:
  /// A new file in `folder`. @throws Error{unwritable_output}
  explicit TensorboardEvents(const std::filesystem::path& folder);

  /// A point of a curve, at step 1, 2, … Each throws Error{unwritable_output}.
  void add_scalar(std::string_view tag, std::int64_t step, double value);
  /// A text, as Markdown.
  void add_text(std::string_view tag, std::string_view text);

  /// `step/…`: the columns of metrics.csv.
  void add(const StepMetrics& row);
  /// `epoch/…`: the epoch's losses, measures, images/s and phase times; unknown ones are left out.
  /// @param last_step of the epoch, over the whole run: the points are placed there, not at the
  ///        epoch's number, because add_restart() refers to the steps of all curves.
  void add(const EpochRecord& epoch, std::int64_t last_step);
  /// The configuration of the run, as text, and for the tab HParams: the run is a session of it.
  /// @param started seconds since 1970
  void add_config(const Json& config, double started);
  /// The end of the run, for the tab HParams.
  void add_end(bool is_success);
  /// Call it first in the file of a resumed run: TensorBoard then discards what earlier files
  /// contain for `first_step` and later steps, which are done again.
  void add_restart(std::int64_t first_step);

  void flush() { file_.flush(); }
  const std::filesystem::path& path() const noexcept { return file_.path(); }

 private:
  void append_event(const std::string& event);
  void add_hparams(std::string_view tag, const std::string& data);

  AppendFile file_;
};

}  // namespace hpcboot::record
