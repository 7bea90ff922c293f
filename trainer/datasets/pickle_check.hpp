#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hpcboot::data {

/// What a check of a pickle finds, before its objects are created.
struct PickleCheck {
  /// Why it must not be read; empty if it may be. LibTorch allocates whatever a number in the
  /// pickle asks for: a memo up to the highest index, and a text of any claimed length. It
  /// processes nested objects by recursion.
  std::string damage;
  /// The byte of the damage; 0 if it concerns the pickle as a whole.
  std::uint64_t offset = 0;
  /// An OrderedDict has items. Python's torch.save() writes an empty one with each tensor, which
  /// LibTorch reads as None; it cannot read one with items.
  bool fills_ordered_dict = false;
  /// The first thing in it that torch.save() does not write for plain dicts of tensors, numbers and
  /// texts, such as "numpy.core.multiarray._reconstruct"; usually empty. Versions of LibTorch read
  /// different ones.
  std::string foreign;
  int protocol = 0;  ///< as the pickle states it
};

/// Checks the instructions of a pickle of protocols 0 to 2, as defined in Python's pickletools.py.
/// An unknown one is damage: LibTorch knows fewer.
/// @param name of the pickle in the texts about damage
/// @param most_instructions more are damage, found before memory is used for them
PickleCheck check_pickle(std::string_view pickle, const std::string& name = "data.pkl",
                         std::uint64_t most_instructions = UINT64_MAX);

}  // namespace hpcboot::data
