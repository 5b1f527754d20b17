#include "run/labels/class_names.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

bool DecidesClasses(DecisionKind kind) {
  return kind == DecisionKind::kTop || kind == DecisionKind::kRank ||
         kind == DecisionKind::kThreshold || kind == DecisionKind::kArgmax ||
         kind == DecisionKind::kBoxes;
}

bool IsNumber(std::string_view word) { return !word.empty() && std::ranges::all_of(word, IsDigit); }

}  // namespace

Result<ClassNames> ClassNames::Load(const std::string& path) {
  const std::string where = "--class-names: '" + path + "'";
  std::ifstream file(path);
  if (!file) return Malformed(where + " cannot be read: " + std::strerror(errno));
  ClassNames names;
  size_t empty = 0;
  for (std::string line; std::getline(file, line);) {
    if (names.empty() && empty == 0 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    while (line.ends_with('\r')) line.pop_back();
    // The class may be the blank itself, as in alphabets.
    const size_t last = line.find_last_not_of(" \t");
    line.resize(last == std::string::npos ? std::min<size_t>(line.size(), 1) : last + 1);
    if (line.empty()) {
      ++empty;
      continue;
    }
    if (empty > 0) {
      return Malformed(where + ", line " + std::to_string(names.names_.size() + 1) +
                       ": is empty: a line is the name of a class, that of class 0 first");
    }
    names.names_.push_back(std::move(line));
  }
  if (file.bad()) return Malformed(where + " cannot be read: " + std::strerror(errno));
  if (names.empty()) return Malformed(where + " holds no name of a class");
  return names;
}

std::optional<bool> ClassNames::AreOf(const DecisionPlan& decision,
                                      std::optional<int64_t> classes) const {
  const bool is_single = decision.kind == DecisionKind::kThreshold && classes == 2;
  if (empty() || !classes || is_single) return std::nullopt;
  const auto known = static_cast<int64_t>(size());
  const bool blank_last = decision.kind == DecisionKind::kCtc &&
                          (decision.blank == -1 || decision.blank == *classes - 1);
  return known == *classes || (blank_last && known == *classes - 1);
}

std::string ClassNames::WhyNotOf(const std::string& path, int64_t classes,
                                 const std::string& name) const {
  return "--class-names '" + path + "' has " + std::to_string(size()) + " names for the " +
         std::to_string(classes) + " classes of " + name +
         ", which stay numbers: give a line for each class, that of class 0 first";
}

void ClassNames::Name(std::vector<ClassIouRecord>& classes) const {
  if (empty()) return;
  for (ClassIouRecord& of : classes) of.name = NameOf(std::to_string(of.category));
}

std::string ClassNames::WrongCount(size_t names, int64_t classes) {
  if (static_cast<int64_t>(names) == classes) return "";
  return "classes are found by --class-names, which has " + Counted(names, "name") + " for the " +
         std::to_string(classes) +
         " of the output: give a line for each class, that of class 0 first";
}

size_t ClassNames::CountOf(std::string_view name) const {
  return static_cast<size_t>(std::ranges::count(names_, name));
}

std::optional<int64_t> ClassNames::ClassOf(std::string_view name) const {
  if (CountOf(name) != 1) return {};
  return std::ranges::find(names_, name) - names_.begin();
}

std::string ClassNames::NameOf(std::string_view number) const {
  const std::optional<int64_t> place = ParseInt(number);
  const bool known = place && *place >= 0 && static_cast<size_t>(*place) < names_.size();
  const std::string text(number);
  return known ? names_[static_cast<size_t>(*place)] + " (" + text + ")" : text;
}

// Of a text: without a name for each symbol it stays as it is.
std::string ClassNames::Spelled(const std::string& decision) const {
  std::string text;
  for (size_t at = 0; at < decision.size();) {
    const size_t end = std::min(decision.find(' ', at), decision.size());
    const std::string_view word = std::string_view(decision).substr(at, end - at);
    const std::optional<int64_t> place = IsNumber(word) ? ParseInt(word) : std::nullopt;
    if (place && static_cast<size_t>(*place) >= names_.size()) return decision;
    if (place) {
      text += names_[static_cast<size_t>(*place)];
    } else {
      text += (at > 0 ? " " : "") + std::string(word);
    }
    at = end + 1;
  }
  return text;
}

// Words that are no classes ("none", "+2 more") are for people as they are.
std::string ClassNames::InWords(DecisionKind kind, const std::string& decision) const {
  if (kind == DecisionKind::kCtc && !names_.empty()) return Spelled(decision);
  if (names_.empty() || !DecidesClasses(kind)) return decision;
  std::string text;
  bool after_class = false;
  for (size_t at = 0; at < decision.size();) {
    const size_t end = std::min(decision.find(' ', at), decision.size());
    const std::string_view word = std::string_view(decision).substr(at, end - at);
    const std::string_view number = word.substr(0, word.find(':'));
    const bool is_class = IsNumber(number);
    if (at > 0) text += is_class && after_class ? ", " : " ";
    text += is_class ? NameOf(number) : std::string(word);
    if (is_class && number.size() < word.size()) {
      text += ": " + std::string(word.substr(number.size() + 1));
    }
    after_class = is_class;
    at = end + 1;
  }
  return text;
}

}  // namespace vernier
