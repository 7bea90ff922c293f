#pragma once

#include <string>
#include <string_view>

namespace hpcboot::data {

/// What a check of a pickle finds, before LibTorch reads it.
struct PickleCheck {
  /// Why it must not be read; empty if it may be. LibTorch allocates whatever a number in the
  /// pickle asks for: a memo up to the highest index, and a text of any claimed length. It
  /// processes nested objects by recursion.
  std::string damage;
  /// An OrderedDict has items. Python's torch.save() writes an empty one with each tensor, which
  /// LibTorch reads as None; it cannot read one with items.
  bool fills_ordered_dict = false;
};

/// Checks the instructions of a pickle of protocols 0 to 2, as defined in Python's pickletools.py.
/// An unknown one is damage: LibTorch knows fewer.
PickleCheck check_pickle(std::string_view pickle);

}  // namespace hpcboot::data
