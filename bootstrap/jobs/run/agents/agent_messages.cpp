#include "agent_messages.hpp"

#include <cstdint>

#include "hpcboot/version.hpp"
#include "json/bounded_json.hpp"
#include "json/json_reader.hpp"

namespace hpcboot::run {
namespace {

constexpr const char* kName = "message of hpcboot run";

// Words, variables and paths are bytes that need not be UTF-8 and must arrive unchanged: each byte
// is encoded as the character of that number (ISO 8859-1).
std::string wide(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte < 0x80U) {
      text += c;
    } else {
      text += static_cast<char>(0xc0U | byte >> 6U);
      text += static_cast<char>(0x80U | (byte & 0x3fU));
    }
  }
  return text;
}

std::string narrow(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned first = static_cast<std::uint8_t>(text[i]);
    if (first >= 0x80U && i + 1 < text.size()) {
      bytes +=
          static_cast<char>((first << 6U | (static_cast<std::uint8_t>(text[++i]) & 0x3fU)) & 0xffU);
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

Json texts(const std::vector<std::string>& words) {
  Json array = Json::array();
  for (const std::string& word : words) array.push_back(wide(word));
  return array;
}

// Not an object: a name may be any text.
Json entries(const Variables& variables) {
  Json array = Json::array();
  for (const auto& [name, value] : variables) {
    array.push_back(wide(name));
    array.push_back(wide(value));
  }
  return array;
}

std::string text_of(const Json& json) {
  return json_text(json).str();
}

class Message {
 public:
  explicit Message(std::string_view payload) : json_(parse(payload)), reader_(kName, json_) {}

  std::string text(const char* key) const {
    return narrow(reader_.require(key, reader_.text(key), "a string"));
  }
  int number(const char* key) const {
    return reader_.require(key, reader_.small_integer(key), "a whole number");
  }
  bool boolean(const char* key) const {
    return reader_.require(key, reader_.boolean(key), "true or false");
  }
  std::vector<std::string> texts(const char* key) const {
    auto words = reader_.require(key, reader_.texts(key), "an array of strings");
    for (std::string& word : words) word = narrow(word);
    return words;
  }
  Variables variables(const char* key) const {
    const auto words = texts(key);
    Variables variables;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) variables[words[i]] = words[i + 1];
    return variables;
  }
  const JsonReader& reader() const { return reader_; }

 private:
  static Json parse(std::string_view payload) {
    try {
      return parse_json(payload);
    } catch (const JsonError& error) {
      throw Error(ErrorCode::malformed_file, std::string(kName) + ": " + error.what(),
                  "a JSON message of hpcboot run", "use the same version of hpcboot on all hosts");
    }
  }

  Json json_;
  JsonReader reader_;
};

}  // namespace

std::string to_payload(const AgentSpec& spec) {
  Json json = {{"version", wide(spec.version)},    {"words", texts(spec.words)},
               {"folder", wide(spec.folder)},      {"set", entries(spec.set)},
               {"unset", texts(spec.unset)},       {"handover", entries(spec.handover)},
               {"node_rank", spec.node_rank},      {"num_nodes", spec.num_nodes},
               {"first_rank", spec.first_rank},    {"ranks", spec.ranks},
               {"world_size", spec.world_size},    {"gpu_bind", spec.gpu_bind},
               {"is_in_folder", spec.is_in_folder}};
  if (spec.output_dir) json["output_dir"] = wide(*spec.output_dir);
  if (spec.stage) json["stage"] = wide(*spec.stage);
  if (spec.silence) json["silence_ms"] = spec.silence->count();
  return text_of(json);
}

AgentSpec read_spec(std::string_view payload) {
  const Message message(payload);
  AgentSpec spec;
  spec.version = message.text("version");
  if (spec.version != version()) {
    throw Error(ErrorCode::backend_unavailable,
                "hpcboot run of version " + spec.version + " started an agent of version " +
                    std::string(version()),
                "the same version of hpcboot on all hosts", "install one version everywhere");
  }
  spec.words = message.texts("words");
  if (spec.words.empty()) message.reader().fail("words", "a program");
  spec.folder = message.text("folder");
  spec.is_in_folder = message.boolean("is_in_folder");
  spec.set = message.variables("set");
  spec.unset = message.texts("unset");
  spec.handover = message.variables("handover");
  spec.node_rank = message.number("node_rank");
  spec.num_nodes = message.number("num_nodes");
  spec.first_rank = message.number("first_rank");
  spec.ranks = message.number("ranks");
  if (spec.ranks < 1) message.reader().fail("ranks", "a whole number, at least 1");
  spec.world_size = message.number("world_size");
  spec.gpu_bind = message.boolean("gpu_bind");
  if (const auto folder = message.reader().text("output_dir")) spec.output_dir = narrow(*folder);
  if (const auto path = message.reader().text("stage")) spec.stage = narrow(*path);
  if (const auto silence = message.reader().small_integer("silence_ms"))
    spec.silence = std::chrono::milliseconds(*silence);
  return spec;
}

std::string to_payload(const AgentHello& hello) {
  return text_of({{"version", wide(hello.version)},
                  {"hostname", wide(hello.hostname)},
                  {"address", wide(hello.address)},
                  {"port", hello.port}});
}

AgentHello read_hello(std::string_view payload) {
  const Message message(payload);
  return {message.text("version"), message.text("hostname"), message.text("address"),
          message.number("port")};
}

std::string to_payload(const MasterEndpoint& master) {
  return text_of({{"address", wide(master.address)}, {"port", master.port}});
}

MasterEndpoint read_master(std::string_view payload) {
  const Message message(payload);
  return {message.text("address"), message.number("port")};
}

std::string to_payload(const SignalOrder& order) {
  Json json = {{"signal", order.signal}};
  if (order.kill_after) json["kill_after_ms"] = order.kill_after->count();
  return text_of(json);
}

SignalOrder read_order(std::string_view payload) {
  const Message message(payload);
  SignalOrder order{message.number("signal"), std::nullopt};
  if (const auto after = message.reader().small_integer("kill_after_ms"))
    order.kill_after = std::chrono::milliseconds(*after);
  return order;
}

std::string to_payload(const RankEnd& end) {
  return text_of({{"rank", end.rank},
                  {"host", wide(end.host)},
                  {"process_id", end.process_id},
                  {"exit_code", end.exit_code},
                  {"signal", end.signal},
                  {"is_out_of_memory", end.is_out_of_memory},
                  {"last_lines", texts(end.last_lines)}});
}

RankEnd read_end(std::string_view payload) {
  const Message message(payload);
  RankEnd end;
  end.rank = message.number("rank");
  end.host = message.text("host");
  end.process_id = message.number("process_id");
  end.exit_code = message.number("exit_code");
  end.signal = message.number("signal");
  end.last_lines = message.texts("last_lines");
  end.is_out_of_memory = message.boolean("is_out_of_memory");
  return end;
}

std::string to_payload(const Error& error) {
  return text_of({{"code", error.exit_code()},
                  {"found", wide(error.found())},
                  {"expected", wide(error.expected())},
                  {"remedy", wide(error.remedy())}});
}

Error read_error(std::string_view payload) {
  const Message message(payload);
  auto code = static_cast<ErrorCode>(message.number("code"));
  // It becomes an exit code, which must not be 0 or that of a signal.
  if (name_of(code) == name_of(ErrorCode{})) code = ErrorCode::exchange_failed;
  return Error(code, message.text("found"), message.text("expected"), message.text("remedy"));
}

std::string to_payload(const RankBytes& output) {
  std::string payload;
  for (int shift = 24; shift >= 0; shift -= 8)
    payload += static_cast<char>(
        static_cast<unsigned>(output.rank) >> static_cast<unsigned>(shift) & 0xffU);
  return payload.append(output.bytes);
}

RankBytes read_output(std::string_view payload) {
  constexpr std::size_t kHead = 4;
  if (payload.size() < kHead) {
    throw Error(ErrorCode::malformed_file, std::string(kName) + ": output without a rank",
                "4 bytes with the rank", "use the same version of hpcboot on all hosts");
  }
  unsigned rank = 0;
  for (const char c : payload.substr(0, kHead)) rank = rank << 8U | static_cast<std::uint8_t>(c);
  return {static_cast<int>(rank), payload.substr(kHead)};
}

std::string to_payload(const OutputRoom& room) {
  return text_of({{"bytes", room.bytes}});
}

OutputRoom read_room(std::string_view payload) {
  const Message message(payload);
  OutputRoom room{message.number("bytes")};
  if (room.bytes < 1) message.reader().fail("bytes", "a whole number, at least 1");
  return room;
}

}  // namespace hpcboot::run
