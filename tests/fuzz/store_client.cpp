#include "rendezvous/store/client.hpp"

#include <optional>

#include "fuzz.hpp"
#include "input.hpp"
#include "local_server.hpp"

namespace {

using namespace hpcboot::rendezvous;
using hpcboot::fuzz::Input;
using hpcboot::fuzz::require;
using std::chrono::seconds;

// A store that knows the secret of the launch, if there is one, and answers as specified by the
// input.
class Store : public hpcboot::fuzz::LocalServer {
 public:
  Store(Input& input, const World& world) : input_(&input), world_(&world) {}

  // The last request, and the answer to it from its number on; empty if it was changed on the way.
  std::uint32_t asked = 0;
  std::string answered;
  bool is_over = false;  // arbitrary bytes were sent

 private:
  void begin() override {
    admission_.emplace(*world_, 0, members_);
    guard_.reset();
  }

  bool step() override { return guard_ ? take_request() && answer() : admit(); }

  bool admit() {
    std::string message(admission_->expects(), '\0');
    if (!take(message)) return false;
    std::string out;
    const Admission::State state = admission_->take(message, out);
    require(state != Admission::State::turned_away, "a rank authenticates");
    send(out);
    if (state == Admission::State::admitted) guard_ = admission_->guard();
    return true;
  }

  bool take_request() {
    std::string head(4, '\0');
    if (!take(head)) return false;
    std::uint32_t size = 0;
    FrameReader(head).u32(size);
    std::string request(size, '\0');
    std::string seal(guard_->seal_size(), '\0');
    require(take(request) && take(seal), "a request arrives complete");
    require(guard_->accepts(head + request, seal), "a request is sealed");
    require(FrameReader(request).u32(asked), "a request has a number");
    return true;
  }

  bool answer() {
    const unsigned how = input_->u8();
    if (how < 16) {
      close();
      return false;
    }
    if (how < 32) {
      is_over = true;
      send(input_->take(input_->u8()));
      return true;
    }
    FrameWriter writer(asked, input_->u8() % 7);
    if (how < 64) {
      writer.i64(input_->u8());
    } else if (how < 160) {
      std::vector<std::string> texts(how % 4);
      for (std::string& text : texts) text = input_->take(input_->u8());
      writer.texts(texts);
    } else if (how < 192) {
      writer.text(input_->take(input_->u8()));
    }
    std::string text = writer.bytes().substr(4);
    if (how >= 224) hpcboot::fuzz::change(*input_, text);
    FrameWriter length;
    length.u32(static_cast<std::uint32_t>(text.size()));
    std::string frame = length.bytes() + text;
    guard_->seal(length.bytes() + text, frame);
    // With seals, changes on the way are detected.
    const bool is_sealed = guard_->seal_size() > 0;
    const bool is_changed = is_sealed && how >= 240 && hpcboot::fuzz::change(*input_, frame);
    if (!is_changed) answered = text;
    send(frame);
    return true;
  }

  Input* input_;
  const World* world_;
  Members members_;
  std::optional<Admission> admission_;
  std::optional<FrameGuard> guard_;  // once admitted
};

// The actual or expected result of a call.
struct Result {
  bool is_right = false;  // no error
  bool is_late = false;
  std::int64_t number = 0;
  std::vector<std::string> texts{};

  bool operator==(const Result& other) const {
    return is_right == other.is_right && is_late == other.is_late && number == other.number &&
           texts == other.texts;
  }
};

Answer answer_to(Request request) {
  switch (request) {
    case Request::add:
    case Request::erase:
    case Request::check:
    case Request::count:
      return Answer::number;
    case Request::compare_set:
    case Request::get:
      return Answer::values;
    case Request::set:
    case Request::append:
    case Request::set_many:
    case Request::wait:
      break;
  }
  return Answer::done;
}

Result right_result(const Store& store, Request request, std::size_t keys) {
  FrameReader answer(store.answered);
  std::uint32_t id = 0;
  std::uint8_t kind = 0;
  if (!answer.u32(id) || !answer.u8(kind) || id != store.asked) return {};
  Result result;
  const bool waits = request == Request::get || request == Request::wait;
  result.is_late = waits && static_cast<Answer>(kind) == Answer::late;
  const Answer wanted = result.is_late ? Answer::late : answer_to(request);
  if (static_cast<Answer>(kind) != wanted) return {};
  if (wanted == Answer::number && !answer.i64(result.number)) return {};
  const bool has_texts = wanted == Answer::values || wanted == Answer::late;
  if (has_texts && !answer.texts(result.texts)) return {};
  if (wanted == Answer::values && result.texts.size() != keys) return {};
  if (request == Request::erase || request == Request::check)
    result.number = result.number != 0 ? 1 : 0;
  result.is_right = answer.at_end();
  return result.is_right ? result : Result{};
}

Result call(Client& client, Request request, const std::vector<std::string>& keys) {
  Result result;
  std::vector<std::string> missing;
  hpcboot::fuzz::allow_error([&] {
    switch (request) {
      case Request::set:
        client.set("key", "value");
        break;
      case Request::append:
        client.append("key", "value");
        break;
      case Request::set_many:
        client.set_many(keys, keys);
        break;
      case Request::add:
        result.number = client.add("key", 1);
        break;
      case Request::erase:
        result.number = client.erase("key") ? 1 : 0;
        break;
      case Request::check:
        result.number = client.check(keys) ? 1 : 0;
        break;
      case Request::count:
        result.number = client.count();
        break;
      case Request::compare_set:
        result.texts = {client.compare_set("key", "old", "new")};
        break;
      case Request::get:
        result.is_late = !client.get(keys, Clock::now(), result.texts, missing);
        break;
      case Request::wait:
        result.is_late = !client.wait(keys, Clock::now(), missing);
        break;
    }
    result.is_right = true;
  });
  if (!result.is_right) return {};
  if (result.is_late) result.texts = missing;
  return result;
}

}  // namespace

// Whatever a store answers, a call returns what was answered, or fails: an invalid answer is never
// accepted.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kMostCalls = 20;
  Input input(hpcboot::fuzz::text_of(data, size));
  const bool is_sealed = input.u8() % 2 == 0;
  const World world{"job 7", 2, Secret(is_sealed ? "the secret of this launch, 32 by" : "")};
  Store store(input, world);
  const auto client = Client::connect({store.place()}, {world, 1}, Clock::now() + seconds(5));
  for (int i = 0; i < kMostCalls && !input.at_end(); ++i) {
    const auto request = static_cast<Request>(1 + input.u8() % 10);
    std::vector<std::string> keys(1 + input.u8() % 3, "key");
    if (request == Request::compare_set) keys.resize(1);
    store.answered.clear();
    const Result result = call(*client, request, keys);
    if (store.is_over) return 0;
    require(result == right_result(store, request, keys.size()),
            "the call returns what was answered");
  }
  return 0;
}
