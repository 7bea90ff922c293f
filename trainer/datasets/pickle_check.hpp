#pragma once

#include <string>
#include <string_view>

namespace hpcboot::data {

/// What is found in a pickle before LibTorch is given it.
struct PickleCheck {
  /// Why it is not to be read; empty where nothing speaks against it. LibTorch allocates what a
  /// number in the pickle asks for: its memory of objects up to the number of the last one, and a
  /// text of any length that is claimed. Objects within objects it goes through by recursion.
  std::string damage;
  /// An OrderedDict is given items. Python's torch.save() writes empty ones with each tensor, which
  /// LibTorch takes for None; one with items it does not read.
  bool fills_ordered_dict = false;
};

/// Goes through the instructions of a pickle of protocol 0 to 2, as Python's pickletools.py has
/// them. One that it does not know is damage: LibTorch knows fewer.
PickleCheck check_pickle(std::string_view pickle);

}  // namespace hpcboot::data
