#include "lint/operator_table.h"

#include <charconv>
#include <limits>

#include "lint/operators_text.h"

namespace vernier {
namespace {

// The text up to `mark`, which is removed with it from `rest`.
std::string_view TakeUntil(std::string_view& rest, char mark) {
  const size_t end = rest.find(mark);
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return word;
}

template <typename T>
T Number(std::string_view text, int base = 10) {
  T value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

void ReadLimits(std::string_view text, int64_t& least, int64_t& most) {
  least = Number<int64_t>(TakeUntil(text, '-'));
  most = text.empty() ? std::numeric_limits<int64_t>::max() : Number<int64_t>(text);
}

// Calls `read` with each part between commas; "-" is an empty list.
template <typename Read>
void ForEachPart(std::string_view list, const Read& read) {
  if (list == "-") return;
  while (!list.empty()) read(TakeUntil(list, ','));
}

std::vector<OperatorPlace> ReadPlaces(std::string_view list) {
  std::vector<OperatorPlace> places;
  ForEachPart(list, [&](std::string_view part) {
    const char mark = part.back();
    places.push_back({.type = Number<size_t>(part),
                      .optional = mark == '?',
                      .variadic = mark == '*' || mark == '+',
                      .mixed = mark == '+'});
  });
  return places;
}

OperatorVersion ReadVersion(std::string_view rest) {
  OperatorVersion version;
  version.since = Number<int64_t>(TakeUntil(rest, ' '));
  version.deprecated = rest == "deprecated";
  if (version.deprecated) return version;
  ReadLimits(TakeUntil(rest, ' '), version.min_inputs, version.max_inputs);
  ReadLimits(TakeUntil(rest, ' '), version.min_outputs, version.max_outputs);
  version.inputs = ReadPlaces(TakeUntil(rest, ' '));
  version.outputs = ReadPlaces(TakeUntil(rest, ' '));
  ForEachPart(TakeUntil(rest, ' '), [&](std::string_view part) {
    const std::string_view name = TakeUntil(part, ':');
    version.types.push_back({name, Number<TypeSet>(part, 16)});
  });
  ForEachPart(rest, [&](std::string_view part) {
    const std::string_view name = TakeUntil(part, '=');
    version.attributes.push_back({name, Number<int32_t>(part), part.back() == '!'});
  });
  return version;
}

}  // namespace

const OperatorPlace* OperatorVersion::At(const std::vector<OperatorPlace>& places, size_t index) {
  if (index < places.size()) return &places[index];
  return !places.empty() && places.back().variadic ? &places.back() : nullptr;
}

OperatorTable::OperatorTable() {
  std::string_view rest = lint_assets::kOperators;
  while (!rest.empty()) ReadLine(TakeUntil(rest, '\n'));
}

void OperatorTable::ReadLine(std::string_view line) {
  if (line.empty() || line.front() == '#') return;
  const std::string_view first = TakeUntil(line, ' ');
  if (first == "ir") {
    newest_ir_ = Number<int64_t>(line);
  } else if (first == "domain") {
    current_ = &domains_[Domain(TakeUntil(line, ' '))];
    current_->newest = Number<int64_t>(line);
  } else if (first == "known") {
    current_->complete = false;
    current_->operators[line];
  } else {
    OperatorVersion version = ReadVersion(line);
    for (const OperatorType& type : version.types) known_types_ |= type.types;
    current_->operators[first].push_back(std::move(version));
  }
}

std::string_view OperatorTable::Domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

const OperatorTable::DomainRows* OperatorTable::Rows(std::string_view domain) const {
  const auto found = domains_.find(Domain(domain));
  return found == domains_.end() ? nullptr : &found->second;
}

int64_t OperatorTable::NewestOpset(std::string_view domain) const {
  const DomainRows* rows = Rows(domain);
  return rows == nullptr ? 0 : rows->newest;
}

bool OperatorTable::Complete(std::string_view domain) const {
  const DomainRows* rows = Rows(domain);
  return rows != nullptr && rows->complete;
}

bool OperatorTable::Knows(std::string_view domain, std::string_view op) const {
  const DomainRows* rows = Rows(domain);
  return rows != nullptr && rows->operators.contains(op);
}

const OperatorVersion* OperatorTable::Find(std::string_view domain, std::string_view op,
                                           int64_t opset) const {
  if (!Knows(domain, op)) return nullptr;
  const OperatorVersion* found = nullptr;
  for (const OperatorVersion& version : Rows(domain)->operators.at(op)) {
    if (version.since <= opset) found = &version;
  }
  return found;
}

int64_t OperatorTable::FirstVersion(std::string_view domain, std::string_view op) const {
  if (!Knows(domain, op)) return 0;
  const std::vector<OperatorVersion>& versions = Rows(domain)->operators.at(op);
  return versions.empty() ? 0 : versions.front().since;
}

bool OperatorTable::KnowsType(int32_t onnx_type) const {
  return onnx_type > 0 && onnx_type < 31 && (known_types_ >> onnx_type & 1) != 0;
}

}  // namespace vernier
