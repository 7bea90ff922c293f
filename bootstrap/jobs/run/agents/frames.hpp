#pragma once

#include <optional>
#include <string>
#include <string_view>

// What `hpcboot run` and its agents say to each other: frames of a kind (1 byte), a length (4
// bytes, the highest first) and a payload.
namespace hpcboot::run {

enum class FrameKind : char {
  // to an agent
  spec = 'S',    // what to start: AgentSpec
  start = 'G',   // start it now: MasterEndpoint
  signal = 'K',  // a signal for the ranks: SignalOrder
  input = 'I',   // of rank 0; empty: its end
  stacks = 'B',  // write the ranks' stacks, as their standard error
  // from an agent
  hello = 'H',         // AgentHello
  staged = 'D',        // its host has the data, where AgentSpec names some; empty
  output = 'o',        // of a rank: RankBytes
  error_output = 'e',  // likewise
  input_taken = 't',   // the last frame of input: the next one may come
  note = 'n',          // text for people
  stacks_written = 'b',
  ended = 'E',   // a rank: RankEnd
  failed = 'F',  // the agent: Error
  heartbeat = '.',
};

constexpr std::size_t kMaxPayload = std::size_t{16} << 20U;

struct Frame {
  FrameKind kind = FrameKind::heartbeat;
  std::string payload;
};

std::string to_bytes(FrameKind kind, std::string_view payload);

// Takes a stream of bytes apart.
class FrameReader {
 public:
  void take(std::string_view bytes) { bytes_ += bytes; }
  // The next whole frame. @throws Error{exchange_failed} for what is none
  std::optional<Frame> next();

 private:
  std::string bytes_;
};

// One end of the way between `hpcboot run` and an agent. Never waits.
class FrameChannel {
 public:
  // Both are closed with it; they may be one. They become non-blocking.
  FrameChannel(int in, int out);
  FrameChannel(FrameChannel&& other) noexcept;
  FrameChannel& operator=(FrameChannel&&) = delete;
  ~FrameChannel();

  int in() const { return in_; }
  int out() const { return out_; }

  // Reads some of what is there. @return false once the other end is gone
  bool receive();
  std::optional<Frame> next() { return reader_.next(); }

  // Writes what can be written now, and keeps the rest. Nothing is kept for an end that is gone.
  void send(FrameKind kind, std::string_view payload);
  void flush();
  std::size_t unsent() const { return unsent_.size(); }

 private:
  int in_;
  int out_;
  FrameReader reader_;
  std::string unsent_;
};

}  // namespace hpcboot::run
