#include "shipped.hpp"

// For builds that cannot generate the table.
namespace hpcboot {

const View<LaunchSource> kShippedLaunchers;
const View<Scheduler> kShippedSchedulers;

}  // namespace hpcboot
