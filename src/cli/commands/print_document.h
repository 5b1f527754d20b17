// A document for programs on stdout.
#pragma once

#include <cstdio>
#include <string>

#include "options/words/arg_parser.h"
#include "vernier/status.h"

namespace vernier {

/// Writes the text and a newline. kIo when stdout does not take it.
inline Status PrintDocument(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                       std::fputc('\n', stdout) != EOF && std::fflush(stdout) == 0;
  return written ? Status() : IoError("stdout cannot be written");
}

}  // namespace vernier
