#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "hpcboot/key_value_store.hpp"

namespace hpcboot {

// The key of the node map in both PMI-1 and PMI2.
constexpr const char* kProcessMapping = "PMI_process_mapping";

// Common to PMI-1 and PMI2: one flat store of short strings, which become visible after a barrier.
// Values of any length and any bytes are stored as several such strings: escaped, since Cray's PMI
// changes ';' and '=' and the wire protocol ends a value at a space, and split into parts.
class PmiKvs : public KeyValueStore {
 public:
  using Deadline = std::chrono::milliseconds;

  void put(const std::string& key, const std::string& value) override;
  std::string get(int rank, const std::string& key, Deadline deadline) override;
  void commit(Deadline deadline) override { barrier(deadline); }
  void fence(Deadline deadline) override { barrier(deadline); }
  std::vector<int> node_map(Deadline deadline) override;

 protected:
  // All four: @throws Error{exchange_failed, deadline_exceeded}
  virtual void store(const std::string& name, const std::string& text) = 0;
  // nullopt if no rank has stored it.
  virtual std::optional<std::string> look_up(int rank, const std::string& name,
                                             Deadline deadline) = 0;
  // PMI_process_mapping; nullopt if the server has none.
  virtual std::optional<std::string> process_mapping(Deadline deadline) = 0;
  virtual void barrier(Deadline deadline) = 0;
  virtual std::size_t longest_text() const = 0;

  [[noreturn]] void fail_late(const std::string& what, Deadline deadline) const;
};

// Letters, digits, '.' and '-' are kept; any other byte becomes '_' and two hex digits.
std::string escape_for_pmi(std::string_view bytes);
// nullopt if `text` is not a valid escaped text.
std::optional<std::string> unescape_from_pmi(std::string_view text);

// The error does not quote the text: it may be most of a secret.
// @param what "'key' from rank 3"
[[noreturn]] void fail_damaged(const std::string& what, const std::string& text,
                               const std::string& back_end);

}  // namespace hpcboot
