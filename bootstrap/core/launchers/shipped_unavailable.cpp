#include "shipped.hpp"

// For a build that cannot make the table.
namespace hpcboot {

const View<LaunchSource> kShippedLaunchers;
const View<Scheduler> kShippedSchedulers;

}  // namespace hpcboot
