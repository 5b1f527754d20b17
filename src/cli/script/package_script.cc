#include "cli/script/package_script.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/script/python_call.h"
#include "core/version.h"
#include "io/bytes/text_encoding.h"
#include "options/bind/bind_runners.h"
#include "options/bind/shell_command.h"
#include "options/table/command_options.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "run/runner/script_runner.h"
#include "util/text/shell_words.h"
#include "util/text/visible_text.h"

namespace vernier {
namespace {

bool IsPassedOn(const GivenOption& given) {
  const OptionRow& row = *given.row;
  return !row.IsPositional() && row.action != OptionAction::kRunner &&
         row.in_package != InPackage::kOwnWay;
}

// "--input-shapes" is input_shapes=; an option of one letter has its dest.
std::string KeywordOf(const OptionRow& row) {
  std::string keyword(row.dest);
  if (row.flags[0].starts_with("--")) keyword = row.flags[0].substr(2);
  std::replace(keyword.begin(), keyword.end(), '-', '_');
  return keyword;
}

bool IsSingle(const OptionRow& row) {
  return row.arity == Arity::kOne || row.arity == Arity::kOptional;
}

// Is the word a number in Python's words too, and a finite one?
bool IsPythonNumber(std::string_view word) {
  const std::string_view digits = word.substr(word.starts_with('-') ? 1 : 0);
  const bool is_whole = digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_whole && digits.size() > 1 && digits.front() == '0') return false;  // octal, once
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value);
}

bool TakesNumber(const OptionRow& row) {
  return row.type != ValueType::kString || row.metavar == "[OUTPUT:]X" ||
         row.metavar == "[OUTPUT:]N" || row.metavar == "[OUTPUT:]DB";
}

// "1e-3 y:1e-4" as {'': 1e-3, 'y': 1e-4}; nothing where a word is no number or a name stands twice.
std::string NumbersOf(const std::vector<std::string>& words) {
  std::set<std::string> names;
  std::string entries;
  for (const std::string& word : words) {
    const size_t colon = word.rfind(':');
    const std::string name = colon == std::string::npos ? "" : word.substr(0, colon);
    const std::string number = colon == std::string::npos ? word : word.substr(colon + 1);
    if (colon == 0 || !IsPythonNumber(number) || !names.insert(name).second) return {};
    if (words.size() == 1 && name.empty()) return number;
    entries += (entries.empty() ? "" : ", ") + PythonOf(name) + ": " + number;
  }
  return entries.empty() ? "" : "{" + entries + "}";
}

// The words of one flag as one would write them in Python: numbers as numbers, one word by itself.
std::string PythonWordsOf(const OptionRow& row, const std::vector<std::string>& words) {
  if (TakesNumber(row)) {
    if (const std::string numbers = NumbersOf(words); !numbers.empty()) return numbers;
  }
  return words.size() == 1 ? PythonOf(words.front()) : PythonOf(words);
}

// One list of all values where each flag has one, else a list for each flag.
std::string OccurrencesOf(const OptionRow& row, const ParsedArgs& args) {
  std::string lists;
  std::vector<std::string> all;
  const auto occurrences = args.Occurrences(row.dest);
  for (const std::span<const std::string> words : occurrences) {
    all.insert(all.end(), words.begin(), words.end());
    lists += (lists.empty() ? "" : ", ") + PythonOf(std::vector(words.begin(), words.end()));
  }
  return IsSingle(row) || occurrences.size() == 1 ? PythonWordsOf(row, all) : "[" + lists + "]";
}

std::string ValueOf(const GivenOption& given, const ParsedArgs& args) {
  const OptionRow& row = *given.row;
  if (row.action == OptionAction::kCount) return std::to_string(args.Count(row.dest));
  if (row.action == OptionAction::kAppend) return OccurrencesOf(row, args);
  if (given.values.empty()) return "True";
  return PythonWordsOf(row, given.values);
}

struct Keywords {
  std::vector<std::string> order;
  std::map<std::string, std::string> values;  // of flags that are given twice, the last
};

Keywords KeywordsOf(const ParsedArgs& args) {
  Keywords keywords;
  for (const GivenOption& given : args.given()) {
    if (!IsPassedOn(given)) continue;
    // Feeds that are loaded or made by a script have their own number, and Python says so.
    const bool own_number =
        IsGiven<&InputPlan::load_paths>(args) || IsGiven<&InputPlan::script>(args);
    if (own_number && SetsField<&InputPlan::iterations>(*given.row)) continue;
    const std::string keyword = KeywordOf(*given.row);
    if (keywords.values.insert_or_assign(keyword, ValueOf(given, args)).second) {
      keywords.order.push_back(keyword);
    }
  }
  return keywords;
}

Status RefusePackage(const std::string& what) {
  return Unimplemented("Python's package vernier does not take " + what);
}

Status CheckIsTaken(const ParsedArgs& args, const Invocation& invocation) {
  if (!args.plugin_options().empty()) {
    const PluginOption& option = args.plugin_options().front();
    return RefusePackage("--" + option.backend + "." + option.option);
  }
  for (const GivenOption& given : args.given()) {
    const InPackage in_package = given.row->in_package;
    if (in_package == InPackage::kNot || in_package == InPackage::kOfBlame) {
      return RefusePackage(std::string(given.flag));
    }
  }
  for (const std::string& word : invocation.words) {
    if (ValidUtf8Prefix(word) < word.size()) {
      return RefusePackage("words that are not UTF-8: '" + VisibleLine(word) + "'");
    }
  }
  if (ValidUtf8Prefix(CurrentFolder()) < CurrentFolder().size()) {
    return RefusePackage("a folder whose name is not UTF-8: '" + VisibleLine(CurrentFolder()) +
                         "'");
  }
  return {};
}

Result<std::string> Labelled(const std::string& text) {
  VERNIER_ASSIGN_OR_RETURN(const LabelledRunner split, SplitRunner(text));
  if (IsProgramPath(split.backend))
    return RefusePackage("a program as a runner: '" + split.backend + "'");
  const OptionTable table = RunOptionTable();
  const ParseResult parsed = ParseCommandLine(table, split.words);
  if (!parsed.unknown.empty()) return RefusePackage(parsed.unknown.front());
  PythonCall call("vernier.Runner");
  if (IsGiven<&ModelPlan::path>(parsed.args)) {
    call.Add(PythonOf(ReadField<&ModelPlan::path>(parsed.args)));
  }
  call.Add("name", PythonOf(split.label)).Add("backend", PythonOf(split.backend));
  const Keywords keywords = KeywordsOf(parsed.args);
  for (const std::string& keyword : keywords.order) call.Add(keyword, keywords.values.at(keyword));
  return call.Text();
}

Result<std::string> RunnerList(const ParsedArgs& args) {
  std::string list;
  for (const RunnerChoice& choice : args.Runners()) {
    std::string runner = PythonOf(std::string(choice.kind));
    if (choice.kind == "runner") {
      VERNIER_ASSIGN_OR_RETURN(runner, Labelled(choice.value));
    } else if (choice.kind == "model-runner") {
      if (!IsPythonScript(choice.value)) {
        return RefusePackage("a program as a runner: '" + choice.value + "'");
      }
      runner = PythonOf(choice.value);
    }
    list += (list.empty() ? "" : ", ") + runner;
  }
  return "[" + list + "]";
}

std::string Logging(const ParsedArgs& args) {
  const Result<ConsoleLogOptions> log = BindLog(args);
  int level = static_cast<int>(Severity::kInfo);
  if (log.ok()) level = static_cast<int>(log->threshold);
  if (ReadField<&LogWords::silent>(args)) level = static_cast<int>(Severity::kCritical);
  std::string text = "logging.basicConfig(level=" + std::to_string(std::max(level, 1)) +
                     ", format=\"%(message)s\", stream=sys.stdout)\n";
  if (log.ok() && !log->log_file.empty()) {
    text += "logging.getLogger().addHandler(logging.FileHandler(" + PythonOf(log->log_file) +
            ", \"w\"))\n";
  }
  return text;
}

}  // namespace

Result<std::string> WritePackageScript(const ParsedArgs& args, const Invocation& invocation) {
  VERNIER_TRY(CheckIsTaken(args, invocation));
  VERNIER_ASSIGN_OR_RETURN(const std::string runners, RunnerList(args));
  std::string call = "record = vernier.run(\n        ";
  const bool has_model = IsGiven<&ModelPlan::path>(args);
  call += (has_model ? PythonOf(ReadField<&ModelPlan::path>(args)) : "None") + ",\n        " +
          runners + ",\n";
  Keywords keywords = KeywordsOf(args);
  if (invocation.as_polygraphy && keywords.values.try_emplace("lenient", "True").second) {
    keywords.order.emplace_back("lenient");
  }
  for (const std::string& keyword : keywords.order) {
    call += "        " + keyword + "=" + keywords.values.at(keyword) + ",\n";
  }
  return "#!/usr/bin/env python3\n# Written by vernier " + std::string(kVersion) +
         " for its Python package (docs/python-package.md).\n# Generation Command: " +
         VisibleLine(JoinForShell(invocation.words)) +
         "\n\nimport logging\nimport os\nimport sys\n\nimport vernier\n\nos.chdir(" +
         PythonOf(CurrentFolder()) + ")  # relative paths start in this folder\n" + Logging(args) +
         "try:\n    " + call +
         "    )\nexcept vernier.Error as error:\n    print(error, file=sys.stderr)\n"
         "    sys.exit(error.exit_code)\nprint(record.summary())\nsys.exit(record.exit_code)\n";
}

}  // namespace vernier
