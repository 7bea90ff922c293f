#pragma once

#include <string>

#include "admission.hpp"
#include "place.hpp"
#include "stream.hpp"

namespace hpcboot::rendezvous {

// One process of a world, as it introduces itself. Its secret is the world's, or found by what the
// server says of it.
struct Member {
  World world;
  std::uint32_t rank = 0;
  FindSecret find_secret{};  // if the secret is not known from the start
  Token token = random_token();
};

// A connection to a store that has proved that it is the world's, as we have.
class Link {
 public:
  enum class Outcome {
    ours,
    nobody_there,
    no_answer,
    unreachable,
    not_ours,
    rank_is_taken,
    other_version
  };
  struct Attempt;

  // One attempt. @return what came of it. What is found of the secret stays with the member.
  static Attempt open(const Place& place, Member& member, Clock::time_point end);

  // Sends a frame and its seal. @return false if the server is gone or takes nothing until `end`
  bool send(std::string_view frame, Clock::time_point end);
  // The next frame without its length.
  // @return false if the server is gone, sends something else, or nothing until `end`, or if
  //         somebody has changed what it sent
  bool receive(std::string& frame, Clock::time_point end);

  // Is nothing to be read there, not even the end? Then the server may still serve it.
  bool is_quiet() const;

  // For who reads and writes without waiting, once there are no answers on their way.
  Stream into_stream() && { return Stream(std::move(socket_), std::move(guard_)); }

 private:
  bool send_bytes(std::string_view bytes, Clock::time_point end);
  bool receive_exactly(char* bytes, std::size_t size, Clock::time_point end);
  Outcome introduce(const Place& place, Member& member, Clock::time_point end, std::string& reason);

  Socket socket_;
  FrameGuard guard_;
};

struct Link::Attempt {
  Outcome outcome = Outcome::no_answer;
  Link link;           // if ours
  std::string reason;  // if not
};

}  // namespace hpcboot::rendezvous
