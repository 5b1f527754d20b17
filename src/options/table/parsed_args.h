// What a command line says: options and positionals as they were given, by the names of their rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options/table/option_table.h"
#include "util/text/cast_grammar.h"
#include "vernier/status.h"

namespace vernier {

/// One option (or positional) as it was given.
struct GivenOption {
  const OptionRow* row = nullptr;
  std::string_view flag;            ///< the full name it resolved to, empty for a positional
  std::vector<std::string> values;  ///< empty for switches and bare kOptional or kStar
  size_t position = 0;              ///< index of its first word
  /// The same values as a program has them, of which `values` are the texts; empty where the option
  /// was given as words.
  std::vector<KeyedValue> entries = {};
};

/// One runner, in the order of the command line.
struct RunnerChoice {
  std::string_view kind;  ///< OptionRow::constant: "onnxrt", "trt", "runner", "model-runner", ...
  std::string value;      ///< of --runner and --model-runner, else empty
  size_t position = 0;
};

/// `--BACKEND.OPTION=VALUE`: an option that a plug-in has and the rows do not know.
struct PluginOption {
  std::string backend, option, value;
};

/// What was given, by dest ("rtol", "load_inputs_paths"). Rows that share a dest share its value.
/// A dest that was not given is empty: defaults belong to the options that the caller fills.
/// Valid while the OptionTable's rows live. Views point into this object.
class ParsedArgs {
 public:
  void Add(GivenOption option) { given_.push_back(std::move(option)); }
  void Add(PluginOption option) { plugin_options_.push_back(std::move(option)); }

  bool Has(std::string_view dest) const { return Last(dest) != nullptr; }
  /// No later option of these has its dest.
  bool IsLast(const GivenOption& given) const { return Last(given.row->dest) == &given; }
  /// How often it was given: -vv is 2.
  int Count(std::string_view dest) const;
  /// A flag that may stand without its value did so, the last time it was given.
  bool IsBare(std::string_view dest) const;
  /// The last value, or the constant of a bare optional value (if it has one).
  std::optional<std::string_view> Value(std::string_view dest) const;
  /// The words of the last occurrence.
  std::span<const std::string> List(std::string_view dest) const;
  /// The words of every occurrence, for flags that append.
  std::vector<std::span<const std::string>> Occurrences(std::string_view dest) const;
  /// nullopt when not given; kInvalidArgument, naming the flag, beyond 64 bits. Anything else that
  /// is no integer was refused while parsing.
  Result<std::optional<int64_t>> Int(std::string_view dest) const;
  std::optional<double> Float(std::string_view dest) const;
  /// Every runner flag, in order.
  std::vector<RunnerChoice> Runners() const;
  /// The flag by which the dest was last given, for messages; empty when it was not.
  std::string_view Flag(std::string_view dest) const;
  /// All of it, in order, for records and reports.
  const std::vector<GivenOption>& given() const { return given_; }
  const std::vector<PluginOption>& plugin_options() const { return plugin_options_; }

 private:
  const GivenOption* Last(std::string_view dest) const;

  std::vector<GivenOption> given_;
  std::vector<PluginOption> plugin_options_;
};

/// The words of the last occurrence, to keep.
std::vector<std::string> ListOf(const ParsedArgs& args, std::string_view dest);

/// The words of all occurrences, one after another.
std::vector<std::string> AllWordsOf(const ParsedArgs& args, std::string_view dest);

/// The last value, empty where there is none.
std::string TextOf(const ParsedArgs& args, std::string_view dest);

}  // namespace vernier
