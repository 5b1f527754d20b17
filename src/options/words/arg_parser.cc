#include "options/words/arg_parser.h"

#include <algorithm>
#include <utility>

#include "options/words/arg_conversion.h"
#include "util/text/close_matches.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

/// A word that was recognised as an option; row is null when it only looks like one.
struct OptionWord {
  const OptionRow* row = nullptr;
  std::string_view flag;
  std::optional<std::string> explicit_value;
};

/// What one word is: the letters A, O and - of argparse's pattern.
struct Word {
  char kind = 'A';
  OptionWord option;
};

Status ArgumentError(const OptionRow& row, std::string_view message) {
  return InvalidArgument("argument " + row.NameInErrors() + ": " + std::string(message));
}

Status CheckType(const OptionRow& row, const std::string& value) {
  if (row.type == ValueType::kInt && !IsPythonInt(value)) {
    return ArgumentError(row, "invalid int value: " + QuotePython(value));
  }
  if (row.type == ValueType::kFloat && !ParseDouble(value)) {
    return ArgumentError(row, "invalid float value: " + QuotePython(value));
  }
  return {};
}

// What the command line says in place of the error, where that has choices of ours: `own_error`.
Status CheckChoice(const OptionRow& row, const std::string& value, std::string& own_error) {
  if (row.choices.empty() ||
      std::find(row.choices.begin(), row.choices.end(), value) != row.choices.end() ||
      (row.accepts != nullptr && row.accepts(value))) {
    return {};
  }
  const auto list = [](std::span<const std::string_view> choices) {
    std::string text;
    for (const std::string_view choice : choices) {
      text += (text.empty() ? "" : ", ") + QuotePython(choice);
    }
    return text;
  };
  // Polygraphy's words with Polygraphy's choices; what we add comes after.
  const size_t of_polygraphy = row.choices.size() - row.own_choices;
  const std::string invalid = "invalid choice: " + QuotePython(value) + " (choose from ";
  std::string text = invalid + list(row.choices.first(of_polygraphy)) + ")";
  if (row.own_choices > 0) text += " or " + list(row.choices.subspan(of_polygraphy));
  const std::vector<std::string_view> known(row.choices.begin(), row.choices.end());
  const std::string hint = DidYouMean(value, known);
  if (row.own_choices > 0) {
    own_error = ArgumentError(row, invalid + list(row.choices) + ")" + hint).message();
  }
  return ArgumentError(row, text + hint);
}

Status CheckExclusions(const OptionRow& row, const ParsedArgs& args) {
  const auto excludes = [](const OptionRow& a, const OptionRow& b) {
    return std::find(std::begin(a.excludes), std::end(a.excludes), b.dest) != std::end(a.excludes);
  };
  for (const GivenOption& earlier : args.given()) {
    if (excludes(row, *earlier.row) || excludes(*earlier.row, row)) {
      return ArgumentError(row, "not allowed with argument " + earlier.row->NameInErrors());
    }
  }
  return {};
}

Status CheckGiven(const GivenOption& given, const ParsedArgs& earlier, std::string& own_error) {
  const OptionRow& row = *given.row;
  for (const std::string& value : given.values) VERNIER_TRY(CheckType(row, value));
  for (const std::string& value : given.values) VERNIER_TRY(CheckChoice(row, value, own_error));
  return CheckExclusions(row, earlier);
}

std::pair<std::string_view, std::optional<std::string>> SplitAtEquals(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {word, std::nullopt};
  return {word.substr(0, equals), std::string(word.substr(equals + 1))};
}

class CommandLineParser {
 public:
  CommandLineParser(const OptionTable& table, std::span<const std::string> words)
      : table_(table), words_(words), positionals_(table.positionals()) {}

  ParseResult Parse() {
    const Status status = ParseWords();
    result_.end = status.ok() ? ParseEnd::kParsed : help_ ? ParseEnd::kHelp : ParseEnd::kUsageError;
    if (!help_) result_.error = status.message();
    return std::move(result_);
  }

 private:
  Status ParseWords() {
    VERNIER_TRY(ClassifyWords());
    size_t at = 0;
    for (size_t next = NextOption(0); next < words_.size(); next = NextOption(at)) {
      if (at != next) {
        VERNIER_ASSIGN_OR_RETURN(const size_t end, ConsumePositionals(at));
        const bool consumed = end > at;
        at = end;
        if (consumed) continue;
        // No positional is left to take these words.
        AddUnknown(at, next);
        at = next;
      }
      VERNIER_ASSIGN_OR_RETURN(at, ConsumeOption(at));
    }
    VERNIER_ASSIGN_OR_RETURN(at, ConsumePositionals(at));
    AddUnknown(at, words_.size());
    return CheckRequired();
  }

  Status CheckRequired() const {
    std::string missing;
    for (const OptionRow* row : table_.rows()) {
      const bool must = row->IsPositional() ? !Fits(row->arity, 0) : row->required;
      if (!must || result_.args.Has(row->dest)) continue;
      missing += (missing.empty() ? "" : ", ") + row->NameInErrors();
    }
    if (missing.empty()) return {};
    return InvalidArgument("the following arguments are required: " + missing + WhoTookThem());
  }

  // A list takes every word up to the next option, operands too.
  std::string WhoTookThem() const {
    for (const GivenOption& given : result_.args.given()) {
      const bool list = given.row->arity == Arity::kPlus || given.row->arity == Arity::kStar;
      if (given.flag.empty() || !list || given.values.size() < 2) continue;
      return " (" + std::string(given.flag) + " took all words up to the next option: put " +
             QuotePython(given.values.back()) + " before it, or -- between)";
    }
    return "";
  }

  // argparse looks at every word before it acts on any, so an ambiguous abbreviation at the end is
  // reported before a bad value at the beginning.
  Status ClassifyWords() {
    kinds_.resize(words_.size());
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == "--") {
        kinds_[i].kind = '-';
        break;  // the rest are plain arguments, which they are already
      }
      VERNIER_ASSIGN_OR_RETURN(std::optional<OptionWord> option, Recognise(words_[i]));
      if (option) kinds_[i] = {'O', std::move(*option)};
    }
    return {};
  }

  Result<std::optional<OptionWord>> Recognise(const std::string& word) const {
    using Found = std::optional<OptionWord>;
    if (word.empty() || word.front() != '-') return Found();
    if (const FlagEntry* exact = table_.Find(word)) {
      return Found(OptionWord{exact->row, exact->flag, std::nullopt});
    }
    if (word.size() == 1) return Found();
    if (auto [head, value] = SplitAtEquals(word); value) {
      if (const FlagEntry* exact = table_.Find(head)) {
        return Found(OptionWord{exact->row, exact->flag, std::move(value)});
      }
    }
    // Ours join only where Polygraphy knows nothing, so no abbreviation of Polygraphy's changes.
    std::vector<OptionWord> matches = Abbreviations(word, Origin::kPolygraphy);
    if (matches.empty()) matches = Abbreviations(word, Origin::kOurs);
    if (matches.size() > 1) return Ambiguous(word, matches);
    if (matches.size() == 1) return Found(std::move(matches.front()));
    if (LooksLikeNegativeNumber(word) && !table_.HasNegativeNumberFlags()) return Found();
    if (word.find(' ') != std::string::npos) return Found();
    return Found(OptionWord{});
  }

  static Status Ambiguous(const std::string& word, const std::vector<OptionWord>& matches) {
    std::string names;
    for (const OptionWord& match : matches) {
      if (!names.empty()) names += ", ";
      names += match.flag;
    }
    return InvalidArgument("ambiguous option: " + word + " could match " + names);
  }

  std::vector<OptionWord> Abbreviations(const std::string& word, Origin origin) const {
    const bool is_long = word[1] == '-';
    auto [prefix, value] = is_long
                               ? SplitAtEquals(word)
                               : std::pair(std::string_view(word), std::optional<std::string>());
    std::vector<OptionWord> matches;
    for (const FlagEntry& entry : table_.flags()) {
      if (entry.row->origin != origin || entry.row->spelled_out) continue;
      if (!is_long && entry.flag == prefix.substr(0, 2)) {
        matches.push_back({entry.row, entry.flag, word.substr(2)});
      } else if (entry.flag.starts_with(prefix)) {
        matches.push_back({entry.row, entry.flag, value});
      }
    }
    return matches;
  }

  size_t NextOption(size_t from) const {
    while (from < kinds_.size() && kinds_[from].kind != 'O') ++from;
    return from;
  }

  void AddUnknown(size_t begin, size_t end) {
    for (; begin < end; ++begin) result_.unknown.push_back(words_[begin]);
  }

  /// Consumes the option at `start` with its values; returns the index after them.
  Result<size_t> ConsumeOption(size_t start) {
    OptionWord option = kinds_[start].option;
    if (option.row == nullptr) {
      result_.unknown.push_back(words_[start]);
      return start + 1;
    }
    // -vq: all letters but the last are switches; they act only once the whole word is understood.
    std::vector<std::pair<const OptionRow*, std::string_view>> switches;
    while (option.explicit_value && option.row->arity == Arity::kNone) {
      const std::string rest = *option.explicit_value;
      const std::string ignored = "ignored explicit argument " + QuotePython(rest);
      if (option.flag[1] == '-' || rest.empty()) return ArgumentError(*option.row, ignored);
      switches.emplace_back(option.row, option.flag);
      const FlagEntry* next = table_.Find(std::string("-") + rest[0]);
      if (next == nullptr) return ArgumentError(*option.row, ignored);
      option = {next->row, next->flag, std::nullopt};
      if (rest.size() > 1) option.explicit_value = rest.substr(1);
    }
    std::vector<std::string> values;
    size_t end = start + 1;
    if (option.explicit_value) {
      values.push_back(*option.explicit_value);
    } else {
      VERNIER_ASSIGN_OR_RETURN(const size_t count, MatchValues(*option.row, end));
      values.assign(words_.begin() + static_cast<std::ptrdiff_t>(end),
                    words_.begin() + static_cast<std::ptrdiff_t>(end + count));
      end += count;
    }
    for (const auto& [row, flag] : switches) VERNIER_TRY(Take({row, flag, {}, start}));
    VERNIER_TRY(Take({option.row, option.flag, std::move(values), start}));
    return end;
  }

  /// How many of the words from `start` on an option takes: as many as its arity allows.
  Result<size_t> MatchValues(const OptionRow& row, size_t start) {
    size_t available = 0;
    while (start + available < kinds_.size() && kinds_[start + available].kind == 'A') ++available;
    switch (row.arity) {
      case Arity::kNone:
        return size_t{0};
      case Arity::kOne:
        if (available == 0) return WithoutValue(row, start, "expected one argument");
        return size_t{1};
      case Arity::kOptional:
        return std::min<size_t>(available, 1);
      case Arity::kStar:
        return available;
      case Arity::kPlus:
        if (available == 0) return WithoutValue(row, start, "expected at least one argument");
        return available;
    }
    return Internal("unknown arity");
  }

  /// argparse takes numbers such as -1e5 and -inf for options.
  Status WithoutValue(const OptionRow& row, size_t start, const std::string& why) {
    const std::string& word = words_[start - 1];
    if (start < words_.size() && ParseDouble(words_[start])) {
      const std::string written = word + "=" + words_[start];
      result_.own_error = ArgumentError(row, why + "; write " + written).message();
    } else if (word.starts_with("--") && table_.Find(word) == nullptr) {
      // It may be meant for another command, behind "--".
      const std::string meant = "; " + QuotePython(word) + " is read as short for it";
      result_.own_error = ArgumentError(row, why + meant).message();
    }
    return ArgumentError(row, why);
  }

  /// Gives the words from `start` on to as many of the remaining positionals as can be matched,
  /// the last ones being left out first, as argparse does. Returns the index after them.
  Result<size_t> ConsumePositionals(size_t start) {
    std::vector<size_t> counts;
    for (size_t tried = positionals_.size(); tried > 0; --tried) {
      counts.clear();
      if (MatchPositionals(tried, start, counts)) break;
      counts.clear();
    }
    for (size_t i = 0; i < counts.size(); ++i) {
      GivenOption given{positionals_[i], {}, {}, start};
      for (size_t k = 0; k < counts[i]; ++k) given.values.push_back(words_[start + k]);
      start += counts[i];
      VERNIER_TRY(Take(std::move(given)));
    }
    positionals_.erase(positionals_.begin(),
                       positionals_.begin() + static_cast<std::ptrdiff_t>(counts.size()));
    return start;
  }

  static bool Fits(Arity arity, size_t arguments) {
    switch (arity) {
      case Arity::kNone:
        return arguments == 0;
      case Arity::kOne:
        return arguments == 1;
      case Arity::kOptional:
        return arguments <= 1;
      case Arity::kStar:
        return true;
      case Arity::kPlus:
        return arguments >= 1;
    }
    return false;
  }

  /// The regular expression that argparse joins from the first `tried` positionals: greedy, with
  /// backtracking.
  bool MatchPositionals(size_t tried, size_t start, std::vector<size_t>& counts) const {
    if (counts.size() == tried) return true;
    const OptionRow& row = *positionals_[counts.size()];
    std::vector<size_t> lengths;
    size_t arguments = 0;
    for (size_t end = start;; ++end) {
      if (Fits(row.arity, arguments)) lengths.push_back(end - start);
      if (end >= kinds_.size() || kinds_[end].kind == 'O') break;
      if (kinds_[end].kind == 'A') ++arguments;
    }
    for (auto length = lengths.rbegin(); length != lengths.rend(); ++length) {
      counts.push_back(*length);
      if (MatchPositionals(tried, start + *length, counts)) return true;
      counts.pop_back();
    }
    return false;
  }

  /// Converts, checks and stores one occurrence.
  Status Take(GivenOption given) {
    const OptionRow& row = *given.row;
    // "--" vanishes from the values, even when it was written --seed=--.
    const auto dashes = std::find(given.values.begin(), given.values.end(), "--");
    if (dashes != given.values.end()) given.values.erase(dashes);
    if (row.IsPositional() && given.values.empty()) return {};
    VERNIER_TRY(CheckGiven(given, result_.args, result_.own_error));
    if (row.action == OptionAction::kHelp) {
      help_ = true;
      return Cancelled("help");
    }
    result_.args.Add(std::move(given));
    return {};
  }

  const OptionTable& table_;
  std::span<const std::string> words_;
  std::vector<const OptionRow*> positionals_;  // those that have not matched yet
  std::vector<Word> kinds_;
  ParseResult result_;
  bool help_ = false;
};

}  // namespace

Status AddOption(GivenOption given, ParsedArgs& args) {
  if (given.row->arity == Arity::kPlus && given.values.empty()) {
    return ArgumentError(*given.row, "expected at least one argument");
  }
  std::string own_error;
  VERNIER_TRY(CheckGiven(given, args, own_error));
  args.Add(std::move(given));
  return {};
}

void TakePluginOptions(ParseResult& result) {
  std::erase_if(result.unknown, [&](const std::string& word) {
    const size_t equals = word.find('=');
    const size_t dot = word.find('.');
    if (!word.starts_with("--") || equals == std::string::npos || dot > equals) return false;
    PluginOption option{word.substr(2, dot - 2), word.substr(dot + 1, equals - dot - 1),
                        word.substr(equals + 1)};
    if (option.backend.empty() || option.option.empty()) return false;
    result.args.Add(std::move(option));
    return true;
  });
}

ParseResult ParseCommandLine(const OptionTable& table, std::span<const std::string> words) {
  return CommandLineParser(table, words).Parse();
}

}  // namespace vernier
