#pragma once

#include "loop/resume.hpp"

namespace hpcboot::train {

/// Makes the best checkpoint in the run's folder the one that the point's state means. For rank 0,
/// after later checkpoints have been removed.
/// If the run goes back, a best checkpoint later than the point is removed. If the point is the end
/// of the best epoch, which a crash may have kept from becoming the best checkpoint, it becomes it.
/// If there is no best checkpoint, the state's best epoch is forgotten: the next one counts.
/// @throws Error{unwritable_output}
void agree_on_best(ResumePoint& point);

}  // namespace hpcboot::train
