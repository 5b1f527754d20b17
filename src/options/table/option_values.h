// The grammars of option values, by the type of the field that an option sets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "options/table/option_binding.h"
#include "vernier/compare_function.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

enum class ToleranceRule : uint8_t;

/// Not a constant expression: a call of it ends the compilation.
void DefaultIsAnotherNumber();

/// The default of a plan as --help writes it, a decimal number. Does not compile where `text` is
/// another number than `value`, the constant that the plan has.
consteval std::string_view DefaultText(std::string_view text, double value) {
  double digits = 0, scale = 1;
  size_t at = 0;
  bool in_fraction = false;
  for (; at < text.size() && text[at] != 'e'; ++at) {
    if (text[at] == '.') {
      in_fraction = true;
      continue;
    }
    digits = digits * 10 + (text[at] - '0');
    if (in_fraction) scale *= 10;
  }
  // Only "e-N" with one digit. Both numbers are exact, so the quotient is what "1e-5" means.
  if (at < text.size()) {
    for (char power = text.back(); power > '0'; --power) scale *= 10;
  }
  if (digits / scale != value) DefaultIsAnotherNumber();
  return text;
}

/// The last value, or the constant of a bare option; empty where there is none.
std::string TextOf(const OptionInput& input);

/// Where a file of results goes: into `folder`, unless that is empty or `path` names a folder
/// itself. An empty path stays empty.
std::string InFolder(const std::string& folder, const std::string& path);

// Each reads the words of an option into `out`, and replaces what is there. kInvalidArgument,
// naming the flag, for words that are no such value or that the row's rule does not accept.

/// A switch: true, or false of one that turns off.
Status ReadValue(const OptionInput& input, bool& out);
Status ReadValue(const OptionInput& input, int64_t& out);
Status ReadValue(const OptionInput& input, std::optional<int64_t>& out);
Status ReadValue(const OptionInput& input, double& out);
/// Bytes: 4G, 512M.
Status ReadValue(const OptionInput& input, uint64_t& out);
Status ReadValue(const OptionInput& input, std::string& out);
Status ReadValue(const OptionInput& input, std::optional<std::string>& out);
/// Occurrences add up where the row says so.
Status ReadValue(const OptionInput& input, std::vector<std::string>& out);
/// `[OUTPUT:]VALUE ...`
Status ReadValue(const OptionInput& input, PerOutput<double>& out);
Status ReadValue(const OptionInput& input, PerOutput<int64_t>& out);
Status ReadValue(const OptionInput& input, PerOutput<ToleranceRule>& out);
Status ReadValue(const OptionInput& input, PerOutput<std::vector<ErrorStat>>& out);
Status ReadValue(const OptionInput& input, PerOutput<TopK>& out);
/// The words of --compare: its choices, and those that IsLogitsWord knows.
Status ReadValue(const OptionInput& input, std::vector<CompareFunction>& out);
/// Of the words of --compare those for `logits`: its axis, -1 where a word has none.
Status ReadLogitsAxes(const OptionInput& input, PerOutput<int64_t>& out);
/// `[OUTPUT:]logits[:axis=N]`, whatever N is.
bool IsLogitsWord(std::string_view word);
/// `FILE[:FUNCTION]`; the row's key is the function where none is named.
Status ReadValue(const OptionInput& input, ScriptFunction& out);
/// A file, whose name says its format. Added to the others.
Status ReadValue(const OptionInput& input, std::vector<ReportFile>& out);
/// `NAME:SHAPE[:DTYPE] ...`, one shape for each input, of which a lenient command takes the last.
/// Without an entry for NAME:auto.
Status ReadValue(const OptionInput& input, std::vector<TensorInfo>& out);
/// neighbours, first, all or LABEL:LABEL,...
Status ReadValue(const OptionInput& input, PairPlan& out);

/// Where something is saved: in the folder of --output-dir, unless the path names one.
Status ReadPlace(const OptionInput& input, std::string& out);
/// The same of a folder, which must have a name.
Status ReadFolder(const OptionInput& input, std::string& out);

// The inverse of each: the words of an option by which a field gets this value.

OptionWords ValueWords(const OptionRow& row, bool value);
OptionWords ValueWords(const OptionRow& row, int64_t value);
OptionWords ValueWords(const OptionRow& row, std::optional<int64_t> value);
OptionWords ValueWords(const OptionRow& row, double value);
OptionWords ValueWords(const OptionRow& row, std::optional<double> value);
OptionWords ValueWords(const OptionRow& row, uint64_t value);
OptionWords ValueWords(const OptionRow& row, const std::string& value);
OptionWords ValueWords(const OptionRow& row, const std::optional<std::string>& value);
OptionWords ValueWords(const OptionRow& row, const std::vector<std::string>& values);
OptionWords ValueWords(const OptionRow& row, const PerOutput<double>& values);
OptionWords ValueWords(const OptionRow& row, const PerOutput<int64_t>& values);
OptionWords ValueWords(const OptionRow& row, const PerOutput<ToleranceRule>& values);
OptionWords ValueWords(const OptionRow& row, const PerOutput<std::vector<ErrorStat>>& values);
OptionWords ValueWords(const OptionRow& row, const PerOutput<TopK>& values);
OptionWords ValueWords(const OptionRow& row, const ScriptFunction& script);
OptionWords ValueWords(const OptionRow& row, const std::vector<ReportFile>& reports);
OptionWords ValueWords(const OptionRow& row, const PairPlan& pairs);
/// The choice of that index; the first one is the default, which needs no words.
OptionWords ChoiceWords(const OptionRow& row, size_t index);
/// The words of --compare for both of its fields.
OptionWords CompareWords(const OptionRow& row, const CompareOptions& options);

/// Is the option for runners of this backend, too?
bool IsForBackend(const OptionInput& input, std::string_view backend);
Status AddSessionOption(const OptionInput& input, RunnerPlan& runner);
Status AddLoadOption(const OptionInput& input, RunnerPlan& runner);

namespace binding_detail {

template <typename Setter>
struct OwnerOf;
template <typename Part, typename T>
struct OwnerOf<T Part::*> {
  using Type = Part;
};
template <typename Part>
struct OwnerOf<Status (*)(const OptionInput&, Part&)> {
  using Type = Part;
};
template <typename Part>
struct OwnerOf<OptionWords (*)(const OptionRow&, const Part&)> {
  using Type = Part;
};
/// The struct of a pointer to a member, or that a function fills.
template <auto Setter>
using Owner = typename OwnerOf<decltype(Setter)>::Type;

// Has a field one value for each output? Of error statistics several must all hold.
template <typename Member>
inline constexpr bool kOneEach = false;
template <typename Part, typename T>
inline constexpr bool kOneEach<PerOutput<T> Part::*> = true;
template <typename Part, typename T>
inline constexpr bool kOneEach<PerOutput<std::vector<T>> Part::*> = false;

// Looks for a field among those that its struct lists, and keeps its rule.
template <typename Part, typename Field>
struct RuleOfField {
  const Field* field;
  std::optional<NumberRule> rule = {};

  template <typename T>
  constexpr void operator()(const char* /*key*/, const T& value, const FieldRule& of_value = {}) {
    if constexpr (std::is_same_v<T, Field>) {
      if (&value == field) rule = of_value.number;
    }
  }
  constexpr void Thresholds(const auto& /*thresholds*/) {}
};

template <typename Part, typename Field>
consteval NumberRule FieldNumberRule(Field Part::*member) {
  const Part part;
  RuleOfField<Part, Field> found{&(part.*member)};
  Part::EachField(part, found);
  return found.rule.value();  // does not compile where the struct has none
}

// What an option's words are made from: a field whose type says how, or a function of the struct.
template <auto Source>
OptionWords WordsFrom(const OptionRow& row, const void* part) {
  const auto& filled = *static_cast<const Owner<Source>*>(part);
  if constexpr (std::is_member_object_pointer_v<decltype(Source)>) {
    static const Owner<Source> kNew{};
    OptionWords words = ValueWords(row, filled.*Source);
    return words == ValueWords(row, kNew.*Source) ? OptionWords() : words;
  } else {
    return Source(row, filled);
  }
}

template <auto Member>
inline constexpr bool kHasWords = requires(const OptionRow& row, const Owner<Member>& part) {
  ValueWords(row, part.*Member);
};

template <auto Member>
Status SetMember(const OptionInput& input, Owner<Member>& part) {
  return ReadValue(input, part.*Member);
}
template <auto Member>
Status SetPlace(const OptionInput& input, Owner<Member>& part) {
  return ReadPlace(input, part.*Member);
}
template <auto Member>
Status SetFolder(const OptionInput& input, Owner<Member>& part) {
  return ReadFolder(input, part.*Member);
}

}  // namespace binding_detail

/// The binding of a function `Status Set(const OptionInput&, Part&)`. Its inverse is that of the
/// field `Source`, or a function `OptionWords Source(const OptionRow&, const Part&)`.
template <auto Set, auto Source = nullptr>
constexpr Binding SetBy(const NumberRule& rule = {}) {
  using Part = binding_detail::Owner<Set>;
  Binding binding = {.part = &kPartTag<Part>,
                     .set = [](const OptionInput& input, void* part) -> Status {
                       Part& filled = *static_cast<Part*>(part);
                       if constexpr (std::is_same_v<Part, RunnerPlan>) {
                         if (!IsForBackend(input, filled.backend)) return {};
                       }
                       return Set(input, filled);
                     },
                     .rule = rule};
  if constexpr (!std::is_null_pointer_v<decltype(Source)>) {
    binding.words = &binding_detail::WordsFrom<Source>;
  }
  return binding;
}

/// The value goes into this field, whose type says how it is read: Sets<&RunPlan::strict>().
template <auto Member>
constexpr Binding Sets(const NumberRule& rule = {}) {
  Binding binding = SetBy<&binding_detail::SetMember<Member>>(rule);
  if constexpr (binding_detail::kHasWords<Member>) {
    binding.words = &binding_detail::WordsFrom<Member>;
  }
  return binding_detail::kOneEach<decltype(Member)> ? binding.OneEach() : binding;
}

/// The same of a number, within the rule that its struct has for it (EachField).
template <auto Member>
constexpr Binding SetsNumber() {
  return Sets<Member>(binding_detail::FieldNumberRule(Member));
}

/// The same of a script, with its usual function.
template <auto Member>
constexpr Binding SetsScript(std::string_view function) {
  return Sets<Member>().Named(function);
}

/// What a backend is given by this key when a model is opened, or when the backend is loaded: each
/// word by itself, "1" for a switch.
constexpr Binding SessionOption(std::string_view backend, std::string_view key) {
  return SetBy<&AddSessionOption>().Named(key).For(backend);
}
constexpr Binding LoadOption(std::string_view backend, std::string_view key) {
  return SetBy<&AddLoadOption>().Named(key).For(backend);
}

/// The same of what is saved: a file or folder of any kind, and a folder.
template <auto Member>
constexpr Binding Saves() {
  Binding binding = SetBy<&binding_detail::SetPlace<Member>, Member>();
  binding.files = FileUse::kWrites;
  return binding;
}
template <auto Member>
constexpr Binding SavesFolder() {
  Binding binding = SetBy<&binding_detail::SetFolder<Member>, Member>();
  binding.files = FileUse::kWritesInto;
  return binding;
}

}  // namespace vernier
