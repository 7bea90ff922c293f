#include <algorithm>
#include <utility>
#include <vector>

#include "command_words.hpp"
#include "hpcboot/redact.hpp"
#include "secret_arguments.hpp"
#include "secrets.hpp"
#include "text.hpp"

namespace hpcboot::redaction {
namespace {

// Their -u is a user whose jobs or files they show, or not a user at all, and their -p a partition.
constexpr std::string_view kOtherPrograms =
    " srun sbatch salloc squeue sinfo sacct scancel sprio scontrol bsub bjobs qsub qstat ps pgrep "
    "lsof ssh scp rsync mkdir ";

// After a pipe these read a secret, which the `echo` before it has as an argument.
constexpr std::string_view kReaders =
    " sudo passwd chpasswd kinit cryptsetup --password-stdin --with-token --pass-stdin login "
    "--passphrase-fd ";

bool is_one_of(std::string_view word, std::string_view list) {
  return !word.empty() && holds(list, " " + std::string(word) + " ");
}

bool looks_like_a_key(std::string_view word) {
  return word.size() >= 16 && end_of(word, 0, is_word) == word.size() && is_disorderly(word);
}

// Ports and ids: "8080:80", "1000:1000", "22".
bool is_number(std::string_view text) {
  return !text.empty() && end_of(text, 0, [](char c) {
                            return is_digit(c) || c == ':' || c == '.' || c == '/';
                          }) == text.size();
}

// Whether the option of one letter, `flag`, is the last of several in the word: "-rP".
bool is_last_of_cluster(std::string_view word, std::string_view flag) {
  return word.size() > 2 && word[0] == '-' && word.back() == flag.back() &&
         end_of(word, 1, is_alphanumeric) == word.size();
}

bool is_flag(std::string_view word, std::string_view flag) {
  if (!ends_with(flag, "*")) return word == flag;
  return starts_with(word, flag.substr(0, flag.size() - 1));
}

// Reads the words of a text in order and records the parts that are secrets.
class Reader {
 public:
  Reader(std::string_view text, std::string_view name, std::vector<CommandWord> words, Spans& found)
      : text_(text), words_(std::move(words)), found_(found) {
    // A value may consist of options only: the name of its variable identifies the program.
    any_part(name, "_", [&](std::string_view part) {
      const bool is_mysql = are_equal_but_for_case(part, "mysql");
      if (is_mysql || are_equal_but_for_case(part, "mariadb")) note_program("mysql");
      return is_mysql;
    });
    named_ = takes_;  // NOLINT(cppcoreguidelines-prefer-member-initializer): just noted
  }

  void read() {
    for (at_ = 0; at_ < words_.size(); ++at_) take(text_of(at_));
  }

 private:
  struct Taken {
    const SecretArgument* secret;
    bool is_after_flag;
  };

  std::string_view text_of(std::size_t word) const {
    return text_.substr(words_[word].begin, words_[word].end - words_[word].begin);
  }

  bool is_end(std::size_t word) const {
    return word >= words_.size() || is_end_of_command(text_of(word)[0]);
  }

  void take(std::string_view raw) {
    if (is_end(at_)) {
      if (raw == "|") end_of_echo();
      is_netrc_ = is_netrc_ && raw == "\n";
      takes_ = named_;
      begin_ = at_ + 1;
      has_user_ = is_of_scheduler_ = is_login_ = sets_ = is_curl_ = has_secret_ = false;
      return;
    }
    const std::string_view word = unquoted(raw);
    take_here_string(raw);
    take_arguments(word);
    take_user(word);
    take_options_of_curl(word);
    take_literal(word);
    take_setting(word);
    take_netrc(word);
    take_login(word);
    note_program(program_of(word));
  }

  void note_program(std::string_view program) {
    if (program.empty()) return;
    const std::string padded = " " + std::string(program) + " ";
    is_curl_ = is_curl_ || program == "curl";
    is_of_scheduler_ = is_of_scheduler_ || holds(kOtherPrograms, padded);
    for (const SecretArgument& secret : kSecretArguments) {
      if (!holds(secret.programs, padded)) continue;
      const bool is_known = std::any_of(takes_.begin(), takes_.end(),
                                        [&](const Taken& one) { return one.secret == &secret; });
      if (!is_known) takes_.push_back({&secret, secret.flag.empty()});
    }
  }

  // Hides the word except for its first `kept` characters; nothing if it ends the command.
  void hide(std::size_t word, std::size_t kept = 0) {
    if (is_end(word)) return;
    const std::string_view bare = unquoted(text_of(word));
    if (bare.size() <= kept) return;
    const auto begin = static_cast<std::size_t>(bare.data() - text_.data());
    found_.push_back({begin + kept, begin + bare.size()});
  }

  void take_arguments(std::string_view word) {
    for (Taken& taken : takes_) {
      const SecretArgument& secret = *taken.secret;
      const std::size_t length = secret.flag.size();
      if (secret.takes == Takes::words) {
        if (taken.is_after_flag && !starts_with(word, "-")) hide(at_);
        taken.is_after_flag = taken.is_after_flag || is_flag(word, secret.flag);
      } else if ((secret.takes != Takes::glued && word == secret.flag) ||
                 (secret.takes == Takes::cluster && is_last_of_cluster(word, secret.flag))) {
        hide(at_ + 1);
      } else if (starts_with(word, secret.flag) && !starts_with(word, "--")) {
        hide(at_, word.size() > length && word[length] == '=' ? length + 1 : length);
      }
    }
  }

  // "-u user:password" of any program; after a user, also "-p password".
  void take_user(std::string_view word) {
    if (word.size() < 2) return;
    const bool is_short = starts_with(word, "-u") || starts_with(word, "-U");
    const bool is_long = word == "--user" || word == "--proxy-user" || word == "--username";
    if (is_long || (is_short && word.size() == 2)) {
      if (is_end(at_ + 1)) return;
      const std::string_view user = unquoted(text_of(at_ + 1));
      has_user_ = has_user_ || (!user.empty() && user[0] != '-');
      if (is_pair(user)) hide(at_ + 1);
    } else if (is_short || starts_with(word, "--user=") || starts_with(word, "--proxy-user=")) {
      const std::size_t kept = is_short ? 2 : word.find('=') + 1;
      has_user_ = true;
      if (is_pair(word.substr(kept))) hide(at_, kept);
    } else if ((has_user_ && !is_of_scheduler_) || is_login_) {
      const bool is_glued = starts_with(word, "-p") && word.size() > 2;
      if (is_glued && !is_number(word.substr(2))) hide(at_, word[2] == '=' ? 3 : 2);
      if (word == "-p" && !is_end(at_ + 1) && !is_number(unquoted(text_of(at_ + 1)))) hide(at_ + 1);
    }
  }

  // "-su user:password", "-b cookie=x" and "--cert file:password" of curl
  void take_options_of_curl(std::string_view word) {
    if (!is_curl_ || word.size() < 2 || word[0] != '-') return;
    constexpr std::string_view kWithoutArgument = "#012346aBfgGiIjJkLlMnNOpqRsSvVZ";
    const std::size_t at = skip(word, 1, kWithoutArgument);
    const bool is_cert = word == "--cert" || word == "--proxy-cert";
    const char option = is_cert ? 'E' : at < word.size() ? word[at] : '-';
    const bool is_next = is_cert || at + 1 == word.size();
    const std::size_t holder = is_next ? at_ + 1 : at_;
    if (is_end(holder) || !holds("uUbE", std::string_view(&option, 1))) return;
    const std::size_t kept = is_next ? 0 : at + 1;
    const std::string_view value = unquoted(text_of(holder)).substr(kept);
    const std::size_t colon = value.find(':');
    if (option == 'E' && colon != std::string_view::npos) hide(holder, kept + colon + 1);
    if (option == 'b' && holds(value, "=")) hide(holder, kept);
    if ((option == 'u' || option == 'U') && is_pair(value)) hide(holder, kept);
  }

  // "kubectl create secret generic x --from-literal=key=value"
  void take_literal(std::string_view word) {
    constexpr std::string_view kFlag = "--from-literal";
    has_secret_ = has_secret_ || word == "secret";
    if (!has_secret_ || !starts_with(word, kFlag)) return;
    const std::size_t holder = word == kFlag ? at_ + 1 : at_;
    if (is_end(holder)) return;
    const std::size_t assigned =
        unquoted(text_of(holder)).find('=', holder == at_ ? kFlag.size() + 1 : 0);
    if (assigned != std::string_view::npos) hide(holder, assigned + 1);
  }

  static bool is_pair(std::string_view user) {
    const std::size_t colon = user.find(':');
    return colon != std::string_view::npos && user.size() > 1 &&
           !starts_with(user.substr(colon), "://") && !is_number(user);
  }

  // .netrc: "machine h login me password x" in any order and on any lines
  void take_netrc(std::string_view word) {
    const bool is_machine = word == "machine" && is_netrc_name(next_in_file(next_in_file(at_)));
    is_netrc_ = is_netrc_ || is_machine || (word == "default" && is_netrc_name(next_in_file(at_)));
    if (!(is_netrc_ || is_login_) || (word != "password" && word != "account")) return;
    const std::size_t secret = is_netrc_ ? next_in_file(at_) : at_ + 1;
    hide(secret);
    if (is_end(secret) || is_quote(text_of(secret)[0])) return;
    // What ends a command is part of a password.
    const std::size_t begin = words_[secret].begin;
    found_.push_back({begin, find_any(text_, begin, kSpace)});
  }

  std::size_t next_in_file(std::size_t word) const {
    do ++word;
    while (word < words_.size() && text_of(word) == "\n");
    return word;
  }

  bool is_netrc_name(std::size_t word) const {
    return word < words_.size() && is_one_of(text_of(word), " login password account ");
  }

  // "config set api_key x", "setenv TOKEN x", "mpiexec -genv TOKEN x"
  void take_setting(std::string_view word) {
    const std::size_t last = word.find_last_of("/:");
    const std::string_view name = last == std::string_view::npos ? word : word.substr(last + 1);
    const bool is_name = !name.empty() && end_of(name, 0, is_word) == name.size();
    const bool is_of_mpiexec =
        at_ > begin_ && is_one_of(unquoted(text_of(at_ - 1)), " -genv -env ");
    if ((sets_ || is_of_mpiexec) && is_name && name[0] != '-' && is_private_name(name))
      hide(is_of_mpiexec ? at_ + 1 : after_options());
    sets_ = sets_ || is_one_of(word, " set --set --add setenv config modify configure create ");
  }

  // The next word that is not an option: often that of the previous word, too.
  std::size_t after_options() {
    value_ = std::max(value_, at_ + 1);
    while (!is_end(value_) && text_of(value_)[0] == '-') ++value_;
    return value_;
  }

  // "login x" of any program, if x looks like a key
  void take_login(std::string_view word) {
    if (is_login_ && looks_like_a_key(word)) hide(at_);
    is_login_ = is_login_ || word == "login";
  }

  // "program <<<secret"
  void take_here_string(std::string_view raw) {
    if (raw == "<<<") hide(at_ + 1);
    if (starts_with(raw, "<<<") && raw.size() > 3) hide(at_, 3);
  }

  // "echo secret | sudo -S program"
  void end_of_echo() {
    if (begin_ >= at_) return;
    const std::string_view program = program_of(text_of(begin_));
    if (program != "echo" && program != "printf") return;
    bool is_read = false;
    for (std::size_t i = at_ + 1; !is_end(i); ++i)
      is_read = is_read || is_one_of(unquoted(text_of(i)), kReaders);
    for (std::size_t i = begin_ + 1; is_read && i < at_; ++i) hide(i);
  }

  std::string_view text_;
  std::vector<CommandWord> words_;
  Spans& found_;
  // Arguments of the programs in the current command, and of the program that the variable's name
  // implies.
  std::vector<Taken> takes_, named_;
  std::size_t at_ = 0, begin_ = 0, value_ = 0;
  bool has_user_ = false, is_of_scheduler_ = false, is_login_ = false, sets_ = false;
  bool is_netrc_ = false, is_curl_ = false, has_secret_ = false;
};

}  // namespace

void find_in_commands(std::string_view text, std::string_view name, Spans& found) {
  Reader(text, name, command_words(text, Quotes::join), found).read();
  // Commands in quotes, as in "bash -c", and quotes that do not belong to a command.
  Reader(text, name, command_words(text, Quotes::ignored), found).read();
}

}  // namespace hpcboot::redaction
