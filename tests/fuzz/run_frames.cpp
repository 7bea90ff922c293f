#include "fuzz.hpp"
#include "hpcboot/version.hpp"
#include "input.hpp"
#include "jobs/run/agents/agent_messages.hpp"
#include "jobs/run/agents/frames.hpp"

namespace {

using namespace hpcboot;
using namespace hpcboot::run;

// The frames of a stream that arrives in parts of this size; the rest of the stream is not a frame.
std::vector<Frame> frames_in(std::string_view bytes, std::size_t part) {
  std::vector<Frame> frames;
  fuzz::allow_error([&] {
    FrameReader reader;
    while (!bytes.empty()) {
      reader.take(bytes.substr(0, part));
      bytes.remove_prefix(std::min(part, bytes.size()));
      while (auto frame = reader.next()) {
        fuzz::require(frame->payload.size() <= kMaxPayload, "at most kMaxPayload bytes");
        frames.push_back(*std::move(frame));
      }
    }
  });
  return frames;
}

// What is read is written, and reads back unchanged.
template <typename Read>
void require_read_back(std::string_view payload, Read read) {
  fuzz::allow_error([&] {
    const std::string written = to_payload(read(payload));
    fuzz::require(to_payload(read(written)) == written, "a message reads back unchanged");
  });
}

// Seeds do not contain the version, without which a spec is not accepted.
std::string with_version(std::string payload) {
  constexpr std::string_view kMark = "@VERSION@";
  const std::size_t at = payload.find(kMark);
  return at == std::string::npos ? payload : payload.replace(at, kMark.size(), version());
}

void require_read_back(const Frame& frame) {
  const std::string payload = with_version(frame.payload);
  if (frame.kind == FrameKind::spec) require_read_back(payload, read_spec);
  if (frame.kind == FrameKind::start) require_read_back(payload, read_master);
  if (frame.kind == FrameKind::signal) require_read_back(payload, read_order);
  if (frame.kind == FrameKind::hello) require_read_back(payload, read_hello);
  if (frame.kind == FrameKind::output) require_read_back(payload, read_output);
  if (frame.kind == FrameKind::room) require_read_back(payload, read_room);
  if (frame.kind == FrameKind::ended) require_read_back(payload, read_end);
  if (frame.kind != FrameKind::failed) return;
  require_read_back(payload, read_error);
  fuzz::allow_error([&] {
    const int code = read_error(payload).exit_code();
    fuzz::require(code > 0 && code < 128, "an error has its own exit code");
  });
}

}  // namespace

// The protocol between `hpcboot run` and its agents: the same frames however the stream is split,
// and messages that read back as written, or an Error. The rest is read as a stream, and as a
// payload of the kind in the first byte.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(fuzz::text_of(data, size));
  const auto kind = static_cast<FrameKind>(input.u8());
  const std::string_view rest = input.take(size);
  require_read_back({kind, std::string(rest)});
  const std::vector<Frame> frames = frames_in(rest, rest.size());
  const std::vector<Frame> in_parts = frames_in(rest, 3);
  fuzz::require(frames.size() == in_parts.size(), "the same number of frames in parts");
  std::string bytes;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    fuzz::require(frames[i].kind == in_parts[i].kind && frames[i].payload == in_parts[i].payload,
                  "the same frames in parts");
    bytes += to_bytes(frames[i].kind, frames[i].payload);
    require_read_back(frames[i]);
  }
  fuzz::require(rest.substr(0, bytes.size()) == bytes, "frames are written back unchanged");
  return 0;
}
