#pragma once

#include <exception>
#include <string>

namespace hpcboot::train {

/// The message of an exception, without the stack trace that follows LibTorch's.
inline std::string error_words(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find("\nException raised from "));
}

}  // namespace hpcboot::train
