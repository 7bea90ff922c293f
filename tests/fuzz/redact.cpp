#include "hpcboot/redact.hpp"

#include <string>

#include "fuzz.hpp"

// A secret that its place or its form gives away is gone, whatever stands around it.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const std::string around(fuzz::text_of(data, size));
  const std::string before = around.substr(0, size / 2);
  const std::string after = around.substr(size / 2);
  for (const char* planted :
       {" https://me:hunter2@host ", " --password hunter2 ", " API_KEY=hunter2 ",
        " \"token\": \"hunter2\" ", " Bearer hunter2 ", " hf_hunter2hunter2hunter2hunter2 "}) {
    const std::string redacted = redact_value(before + planted + after);
    fuzz::require(around.find("hunter2") != std::string::npos ||
                      redacted.find("hunter2") == std::string::npos,
                  "the secret is gone");
  }
  return 0;
}
