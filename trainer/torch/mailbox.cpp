#include "mailbox.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "process_group_impl.hpp"

namespace hpcboot {

struct Mailbox::Store {
  c10::intrusive_ptr<c10d::Store> store;
};

Mailbox::Mailbox(const ProcessGroup& group, const std::string& name)
    : store_(std::make_unique<Store>(Store{ProcessGroupAccess::impl_of(group).store})),
      name_(name),
      rank_(group.rank()),
      next_(static_cast<std::size_t>(group.world_size()), 0) {}

Mailbox::~Mailbox() = default;

std::string Mailbox::key_of(int rank, std::int64_t number) const {
  return "mailbox/" + name_ + "/" + std::to_string(rank) + "/" + std::to_string(number);
}

void Mailbox::send(const std::string& text) {
  std::int64_t& number = next_[static_cast<std::size_t>(rank_)];
  store_->store->set(key_of(rank_, number), std::vector<std::uint8_t>(text.begin(), text.end()));
  ++number;
}

std::vector<std::string> Mailbox::receive() {
  std::vector<std::string> texts;
  c10d::Store& store = *store_->store;
  for (int rank = 1; rank < static_cast<int>(next_.size()); ++rank) {
    std::int64_t& number = next_[static_cast<std::size_t>(rank)];
    for (std::string key = key_of(rank, number); store.check({key}); key = key_of(rank, number)) {
      const std::vector<std::uint8_t> text = store.get(key);
      store.deleteKey(key);
      texts.emplace_back(text.begin(), text.end());
      ++number;
    }
  }
  return texts;
}

}  // namespace hpcboot
