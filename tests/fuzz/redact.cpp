#include "hpcboot/redact.hpp"

#include <array>
#include <string>

#include "fuzz.hpp"

namespace {

constexpr std::array kPlanted = {
    " https://me:hunter2@host ",
    " https://hooks.slack.com/services/T0/hunter2 ",
    " https://chat.example.org/hooks/hunter2 ",
    " https://host/f?sv=1&sig=hunter2 ",
    " --password hunter2 ",
    " API_KEY=hunter2 ",
    " KEY1=hunter2 ",
    " SESSION_ID=hunter2 ",
    " \"token\": \"hunter2\" ",
    " {\"tokens\": [\"a\", \"hunter2\"]} ",
    " {\"secrets\": {\"db\": {\"a\": \"hunter2\"}}} ",
    " <password>a hunter2</password> ",
    " --password a\\ hunter2 ",
    " UID=me;PWD=hunter2 ",
    "\npassword: |\n  a hunter2\n",
    "\nmachine h\n  login me\n  password hunter2\n",
    " AccountName=a;AccountKey=hunter2 ",
    " Bearer hunter2 ",
    " hf_hunter2hunter2hunter2hunter2 ",
    " ghp_hunter2hunter2hunter2 ",
    " xoxb-hunter2-hunter2 ",
    " dckr_pat_hunter2hunter2hunter2 ",
    " pypi-AgEIhunter2hunter2 ",
    " SG.hunter2hunter2hunter2.hunter2hunter2hunter2 ",
    " eyJhunter2hunter2hunter2.eyJhunter2.hunter2 ",
    " AGE-SECRET-KEY-1AAAAAAAAAAAAAAAAAAAA/hunter2 ",
    " ; curl -u me:hunter2 host ",
    " ; curl -ume:hunter2 host ",
    " ; mysql -phunter2 ",
    " ; sshpass -p hunter2 ssh host ",
    " ; wandb login hunter2 ",
    " ; docker login -u me -p hunter2 host ",
    " ; setenv API_KEY hunter2 ",
    " ; mpiexec -genv API_KEY hunter2 ",
    " ; curl -su me:hunter2 host ",
    " ; zip -rP hunter2 a b ",
    " https://me:a'hunter2@host ",
    " https%3A%2F%2Fme%3Ahunter2%40host ",
};

}  // namespace

// A secret that is recognisable by its context or its format is removed, whatever surrounds it. The
// first byte selects the secret.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  if (size == 0) return 0;
  const std::string around(fuzz::text_of(data + 1, size - 1));
  const std::string before = around.substr(0, around.size() / 2);
  const std::string after = around.substr(around.size() / 2);
  const std::string redacted = redact_value(before + kPlanted[data[0] % kPlanted.size()] + after);
  fuzz::require(
      around.find("hunter2") != std::string::npos || redacted.find("hunter2") == std::string::npos,
      "the secret is removed");
  return 0;
}
