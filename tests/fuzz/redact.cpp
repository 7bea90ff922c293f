#include "hpcboot/redact.hpp"

#include <string>

#include "fuzz.hpp"

// A secret that its place or its form gives away is gone, whatever stands around it.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const std::string around(fuzz::text_of(data, size));
  const std::string before = around.substr(0, size / 2);
  const std::string after = around.substr(size / 2);
  for (const char* planted : {" https://me:hunter2@host ",
                              " https://hooks.slack.com/services/T0/hunter2 ",
                              " https://chat.example.org/hooks/hunter2 ",
                              " https://host/f?sv=1&sig=hunter2 ",
                              " --password hunter2 ",
                              " API_KEY=hunter2 ",
                              " KEY1=hunter2 ",
                              " SESSION_ID=hunter2 ",
                              " \"token\": \"hunter2\" ",
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
                              " ; setenv API_KEY hunter2 "}) {
    const std::string redacted = redact_value(before + planted + after);
    fuzz::require(around.find("hunter2") != std::string::npos ||
                      redacted.find("hunter2") == std::string::npos,
                  "the secret is gone");
  }
  return 0;
}
