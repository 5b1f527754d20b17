// What a backend is not expected to do. One line each, `#` starts a comment:
//
//   unsupported CHECK REASON        it says politely that it cannot
//   expected_failure CHECK REASON   it does the wrong thing, and that is known
//   bad_option KEY VALUE            opening with this option must be refused as an invalid argument
//   unavailable KEY VALUE           loading with this option must say that the framework is missing
//
// CHECK may end in `*`. A line whose check passes after all is an error, so that lines do not
// outlive their reason.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vernier/status.h"

namespace vernier {

struct Expectation {
  std::string check;
  std::string reason;
  bool refusal = false;  ///< `unsupported`

  bool Covers(const std::string& name) const;
};

struct Expectations {
  std::vector<Expectation> entries;
  std::vector<std::pair<std::string, std::string>> bad_options;
  std::vector<std::pair<std::string, std::string>> unavailable_options;

  const Expectation* Find(const std::string& check) const;
};

/// kMalformed, with file and line, when the file is missing or a line is not one of the above.
Result<Expectations> ReadExpectations(const std::string& path);

}  // namespace vernier
