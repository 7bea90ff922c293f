#include "world_store.hpp"

#include <c10/util/Exception.h>
#include <torch/version.h>

#include <algorithm>
#include <stdexcept>

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using Bytes = std::vector<std::uint8_t>;

std::string text_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

Bytes bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

// In c10d, zero means no timeout. Nothing waits longer than a day here.
milliseconds bounded(const milliseconds& timeout) {
  constexpr milliseconds kLongest = std::chrono::hours(24);
  return timeout == c10d::Store::kNoTimeout ? kLongest : std::min(timeout, kLongest);
}

rendezvous::Clock::time_point end_of(const milliseconds& timeout) {
  return rendezvous::Clock::now() + bounded(timeout);
}

[[noreturn]] void throw_late(const milliseconds& timeout, const std::vector<std::string>& missing) {
  std::string text =
      "wait timeout after " + std::to_string(bounded(timeout).count()) + "ms, keys: ";
  for (const std::string& key : missing) text += (key == missing.front() ? "" : ", ") + key;
#if TORCH_VERSION_MAJOR >= 2
  C10_THROW_ERROR(DistStoreError, text);
#else
  throw std::runtime_error("Socket Timeout: " + text);
#endif
}

}  // namespace

WorldStore::WorldStore(std::shared_ptr<const rendezvous::Rendezvous> meeting, milliseconds timeout)
    : c10d::Store(timeout), meeting_(std::move(meeting)) {}

void WorldStore::set(const std::string& key, const Bytes& value) {
  client().set(key, text_of(value));
}

Bytes WorldStore::compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) {
  return bytes_of(client().compare_set(key, text_of(expected), text_of(desired)));
}

Bytes WorldStore::get(const std::string& key) {
  return multiGet({key}).front();
}

std::int64_t WorldStore::add(const std::string& key, std::int64_t value) {
  return client().add(key, value);
}

bool WorldStore::deleteKey(const std::string& key) {
  return client().erase(key);
}

bool WorldStore::check(const std::vector<std::string>& keys) {
  return client().check(keys);
}

std::int64_t WorldStore::getNumKeys() {
  return client().count();
}

void WorldStore::wait(const std::vector<std::string>& keys) {
  wait(keys, timeout_);
}

void WorldStore::wait(const std::vector<std::string>& keys, const milliseconds& timeout) {
  std::vector<std::string> missing;
  if (!client().wait(keys, end_of(timeout), missing)) throw_late(timeout, missing);
}

c10::intrusive_ptr<c10d::Store> WorldStore::clone() {
  return c10::make_intrusive<WorldStore>(meeting_, timeout_);
}

void WorldStore::append(const std::string& key, const Bytes& value) {
  client().append(key, text_of(value));
}

std::vector<Bytes> WorldStore::multiGet(const std::vector<std::string>& keys) {
  std::vector<std::string> values;
  std::vector<std::string> missing;
  if (!client().get(keys, end_of(timeout_), values, missing)) throw_late(timeout_, missing);
  std::vector<Bytes> result;
  result.reserve(values.size());
  for (const std::string& value : values) result.push_back(bytes_of(value));
  return result;
}

void WorldStore::multiSet(const std::vector<std::string>& keys, const std::vector<Bytes>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const Bytes& value : values) texts.push_back(text_of(value));
  client().set_many(keys, texts);
}

}  // namespace hpcboot
