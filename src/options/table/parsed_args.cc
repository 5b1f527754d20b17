#include "options/table/parsed_args.h"

#include "util/text/number_text.h"

namespace vernier {

const GivenOption* ParsedArgs::Last(std::string_view dest) const {
  for (auto option = given_.rbegin(); option != given_.rend(); ++option) {
    if (option->row->dest == dest) return &*option;
  }
  return nullptr;
}

int ParsedArgs::Count(std::string_view dest) const {
  int count = 0;
  for (const GivenOption& option : given_) count += option.row->dest == dest ? 1 : 0;
  return count;
}

bool ParsedArgs::IsBare(std::string_view dest) const {
  const GivenOption* last = Last(dest);
  return last != nullptr && last->row->arity == Arity::kOptional && last->values.empty();
}

std::optional<std::string_view> ParsedArgs::Value(std::string_view dest) const {
  const GivenOption* last = Last(dest);
  if (last == nullptr) return std::nullopt;
  if (!last->values.empty()) return last->values.back();
  if (IsBare(dest) && !last->row->constant.empty()) return last->row->constant;
  return std::nullopt;
}

std::span<const std::string> ParsedArgs::List(std::string_view dest) const {
  const GivenOption* last = Last(dest);
  return last == nullptr ? std::span<const std::string>() : last->values;
}

std::vector<std::span<const std::string>> ParsedArgs::Occurrences(std::string_view dest) const {
  std::vector<std::span<const std::string>> all;
  for (const GivenOption& option : given_) {
    if (option.row->dest == dest) all.emplace_back(option.values);
  }
  return all;
}

Result<std::optional<int64_t>> ParsedArgs::Int(std::string_view dest) const {
  const std::optional<std::string_view> text = Value(dest);
  if (!text) return std::optional<int64_t>();
  const std::optional<int64_t> value = ParseInt(*text);
  if (!value) {
    return InvalidArgument(std::string(Flag(dest)) + ": '" + std::string(*text) +
                           "' is beyond 64 bits; give a smaller number");
  }
  return value;
}

std::optional<double> ParsedArgs::Float(std::string_view dest) const {
  const std::optional<std::string_view> text = Value(dest);
  return text ? ParseDouble(*text) : std::nullopt;
}

std::vector<RunnerChoice> ParsedArgs::Runners() const {
  std::vector<RunnerChoice> runners;
  for (const GivenOption& option : given_) {
    if (option.row->action != OptionAction::kRunner) continue;
    runners.push_back(
        {option.row->constant, option.values.empty() ? "" : option.values.back(), option.position});
  }
  return runners;
}

std::string_view ParsedArgs::Flag(std::string_view dest) const {
  const GivenOption* last = Last(dest);
  return last == nullptr ? std::string_view() : last->flag;
}

std::vector<std::string> ListOf(const ParsedArgs& args, std::string_view dest) {
  const std::span<const std::string> words = args.List(dest);
  return {words.begin(), words.end()};
}

std::vector<std::string> AllWordsOf(const ParsedArgs& args, std::string_view dest) {
  std::vector<std::string> all;
  for (const std::span<const std::string> words : args.Occurrences(dest)) {
    all.insert(all.end(), words.begin(), words.end());
  }
  return all;
}

std::string TextOf(const ParsedArgs& args, std::string_view dest) {
  return std::string(args.Value(dest).value_or(""));
}

}  // namespace vernier
