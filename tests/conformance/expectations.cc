#include "expectations.h"

#include <fstream>
#include <sstream>

namespace vernier {
namespace {

Status ReadLine(const std::string& line, Expectations& out) {
  std::istringstream words(line);
  std::string kind, subject, rest;
  if (!(words >> kind) || kind[0] == '#') return {};
  words >> subject >> std::ws;
  std::getline(words, rest);
  if (subject.empty() || rest.empty()) {
    return Malformed("expected `KIND SUBJECT REASON-OR-VALUE`, got '" + line + "'");
  }
  if (kind == "unsupported" || kind == "expected_failure") {
    out.entries.push_back({subject, rest, kind == "unsupported"});
  } else if (kind == "bad_option") {
    out.bad_options.emplace_back(subject, rest);
  } else if (kind == "unavailable") {
    out.unavailable_options.emplace_back(subject, rest);
  } else {
    return Malformed("unknown kind '" + kind + "'");
  }
  return {};
}

}  // namespace

bool Expectation::Covers(const std::string& name) const {
  if (!check.ends_with('*')) return check == name;
  return name.starts_with(std::string_view(check).substr(0, check.size() - 1));
}

const Expectation* Expectations::Find(const std::string& check) const {
  for (const Expectation& entry : entries) {
    if (entry.Covers(check)) return &entry;
  }
  return nullptr;
}

Result<Expectations> ReadExpectations(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Malformed("'" + path + "' cannot be read");
  Expectations expectations;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (Status status = ReadLine(line, expectations); !status.ok()) {
      return std::move(status).Annotate(path + ":" + std::to_string(number));
    }
  }
  return expectations;
}

}  // namespace vernier
