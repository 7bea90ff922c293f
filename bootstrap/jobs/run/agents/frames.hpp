#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

// The protocol between `hpcboot run` and its agents: frames of a kind (1 byte), a length (4 bytes,
// big-endian) and a payload.
namespace hpcboot::run {

enum class FrameKind : char {
  // to an agent
  spec = 'S',    // what to start: AgentSpec
  start = 'G',   // start it now: MasterEndpoint
  signal = 'K',  // a signal for the ranks: SignalOrder
  input = 'I',   // for rank 0; empty: end of input
  stacks = 'B',  // write the ranks' stacks to their standard error
  room = 'R',    // for more output: OutputRoom
  // from an agent
  hello = 'H',         // AgentHello
  staged = 'D',        // the host has the data of AgentSpec::stage; empty
  output = 'o',        // of a rank: RankBytes
  error_output = 'e',  // likewise
  // The last input frame was consumed: send the next. Not sent once rank 0 has closed its input.
  input_taken = 't',
  note = 'n',  // text for people
  stacks_written = 'b',
  ended = 'E',     // a rank, whose output may follow: RankEnd
  complete = 'C',  // the output of a rank that has ended: RankEnd, with its last lines
  failed = 'F',    // the agent: Error
  // both ways
  heartbeat = '.',
};

// How often each side sends a heartbeat.
constexpr std::chrono::seconds kHeartbeat{1};

constexpr std::size_t kMaxPayload = std::size_t{16} << 20U;

struct Frame {
  FrameKind kind = FrameKind::heartbeat;
  std::string payload;
};

std::string to_bytes(FrameKind kind, std::string_view payload);

// Splits a byte stream into frames.
class FrameReader {
 public:
  void take(std::string_view bytes) { bytes_ += bytes; }
  // The next complete frame. @throws Error{exchange_failed} for invalid bytes
  std::optional<Frame> next();

 private:
  std::string bytes_;
};

// One end of the channel between `hpcboot run` and an agent. Never blocks.
class FrameChannel {
 public:
  // Closes both on destruction; they may be the same. Makes them non-blocking.
  FrameChannel(int in, int out);
  FrameChannel(const FrameChannel&) = delete;
  FrameChannel& operator=(const FrameChannel&) = delete;
  ~FrameChannel();

  int in() const { return in_; }
  int out() const { return out_; }

  // Reads some available bytes. @return false once the other end is gone
  bool receive();
  std::optional<Frame> next() { return reader_.next(); }

  // Writes what can be written now and buffers the rest; discards it if the other end is gone.
  // Another thread may send heartbeats meanwhile.
  void send(FrameKind kind, std::string_view payload);
  void flush();
  std::size_t unsent() const;

 private:
  void write_unsent();

  int in_;
  int out_;
  FrameReader reader_;
  mutable std::mutex mutex_;  // for writing
  std::string unsent_;
};

}  // namespace hpcboot::run
