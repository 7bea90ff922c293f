#pragma once

#include <string>

#include "admission.hpp"
#include "place.hpp"
#include "stream.hpp"

namespace hpcboot::rendezvous {

// One process of a world, as it introduces itself. Its secret is that of the world, or is found by
// the kind that the server names.
struct Member {
  World world;
  std::uint32_t rank = 0;
  FindSecret find_secret{};  // if the secret is not known from the start
  Token token = random_token();
};

// A connection to a store of the world, after mutual authentication.
class Link {
 public:
  enum class Outcome { ours, nobody_there, no_answer, unreachable, not_ours, rank_is_taken };
  struct Attempt;

  // Makes one attempt. @return its outcome. A secret that was found is kept in the member.
  static Attempt open(const Place& place, Member& member, Clock::time_point end);

  // Sends a frame and its seal. @return false if the server is gone or does not take it until `end`
  bool send(std::string_view frame, Clock::time_point end);
  // Receives the next frame, without its length. @return false if the server is gone, sends
  // anything else, or nothing until `end`, or if the data was changed on the way
  bool receive(std::string& frame, Clock::time_point end);

  // Is there nothing to read, not even end of file? Then the server may still serve this link.
  bool is_quiet() const;

  // For non-blocking reads and writes, once no answers are outstanding.
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
