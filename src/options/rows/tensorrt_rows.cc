#include "options/rows/tensorrt_rows.h"

#include <algorithm>

#include "options/table/groups.h"
#include "options/words/arg_parser.h"
#include "util/files/paths.h"

namespace vernier {
namespace {

Status SetTimingCache(const OptionInput& input, RunnerPlan& runner) {
  for (const std::string_view key : {"load_timing_cache", "save_timing_cache"}) {
    runner.session_options.emplace_back(key, TextOf(input));
  }
  return {};
}

// "auto": where the user's programs keep what they can make anew.
Status SetTimingCacheDir(const OptionInput& input, RunnerPlan& runner) {
  std::string folder = TextOf(input);
  if (folder == "auto") {
    folder = UserCacheFolder();
    if (folder.empty()) {
      return InvalidArgument(
          "--timing-cache-dir auto: neither XDG_CACHE_HOME nor HOME names a folder; give the "
          "folder itself");
    }
  }
  if (folder.empty()) return InvalidArgument("--timing-cache-dir: expected a folder, got ''");
  runner.session_options.emplace_back("timing_cache_dir", AbsolutePath(folder));
  return {};
}

constexpr OptionRow Completed(OptionRow row, std::string_view dest,
                              std::initializer_list<std::string_view> flags,
                              std::string_view help) {
  std::copy(flags.begin(), flags.end(), row.flags);
  row.dest = dest;
  row.help = help;
  if (!row.sets.Means()) row.sets = kEngineOption;
  return row;
}

#define VERNIER_TRT_CHOICES(name, ...) constexpr std::string_view name[] = {__VA_ARGS__};
#include "options/rows/tensorrt.def"

#define FLAGS(...) \
  { __VA_ARGS__ }
#define ROW(...) \
  { __VA_ARGS__ }
#define PYTHON(...) \
  { __VA_ARGS__ }
#define VERNIER_TRT_OPTION(group, key, flags, help, row, plugin, python) \
  {#group, Completed(row, #key, flags, help), "", python},
#define VERNIER_TRT_FLAG(group, key, flag, flags, help, row, python) \
  {#group, Completed(row, #key, flags, help), #flag, python},
constexpr TensorRtOption kTensorRtOptions[] = {
#include "options/rows/tensorrt.def"
};

std::vector<OptionRow> RowsOf(std::string_view group) {
  std::vector<OptionRow> rows;
  for (const TensorRtOption& option : kTensorRtOptions) {
    if (option.group == group) rows.push_back(option.row);
  }
  return rows;
}

void AddQuoted(std::string& list, std::string_view text) {
  list += (list.empty() ? "\"" : ", \"") + std::string(text) + "\"";
}

}  // namespace

Status AddEngineOption(const OptionInput& input, RunnerPlan& runner) {
  const GivenOption& given = input.given;
  std::string value = given.row->arity == Arity::kNone ? "1" : "";
  for (const std::string& word : given.values) value += (value.empty() ? "" : "\n") + word;
  runner.session_options.emplace_back(given.row->dest, std::move(value));
  return {};
}

Status AddEngineScript(const OptionInput& input, RunnerPlan& runner) {
  runner.place = RunnerPlace::kPython;
  return AddEngineOption(input, runner);
}

std::span<const TensorRtOption> TensorRtOptions() { return kTensorRtOptions; }

std::vector<const TensorRtOption*> TensorRtArguments() {
  std::vector<const TensorRtOption*> arguments;
  for (const TensorRtOption& option : kTensorRtOptions) {
    if (option.python.place != 0) arguments.push_back(&option);
  }
  std::ranges::sort(arguments, {},
                    [](const TensorRtOption* option) { return option->python.place; });
  return arguments;
}

std::string TensorRtOptionsJson() {
  std::string arguments, flags, numbers, words, refused;
  for (const TensorRtOption* option : TensorRtArguments()) {
    // What only `convert` has cannot be said to `run`, which builds engines for Python.
    const bool of_run = option->group != "Capability";
    if (of_run && option->python.argument.empty()) AddQuoted(arguments, option->row.dest);
  }
  for (const TensorRtOption& option : kTensorRtOptions) {
    const OptionRow& row = option.row;
    const bool is_property = option.python.place != 0 && row.choices.empty() &&
                             row.Files() == FileUse::kNone && row.arity == Arity::kOne;
    if (option.python.plugin_only) AddQuoted(refused, row.dest);
    if (!option.builder_flag.empty()) {
      AddQuoted(flags, row.dest);
      flags += ": \"" + std::string(option.builder_flag) + "\"";
    } else if (is_property) {
      AddQuoted(row.type == ValueType::kInt ? numbers : words, row.dest);
    }
  }
  return "{\n  \"arguments\": [" + arguments + "],\n  \"flags\": {" + flags +
         "},\n  \"numbers\": [" + numbers + "],\n  \"words\": [" + words +
         "],\n  \"plugin_only\": [" + refused + "]\n}\n";
}

OptionGroup TensorRtConfigGroup() {
  static const std::vector<OptionRow> rows = RowsOf("Config");
  return {"TensorRT builder configuration", "how TensorRT builds an engine", rows, "--trt"};
}

OptionGroup TensorRtShortFormGroup() {
  static const std::vector<OptionRow> rows = RowsOf("ShortForms");
  OptionGroup group = TensorRtConfigGroup();
  group.rows = rows;
  return group;
}

OptionGroup TensorRtCapabilityGroup() {
  static const std::vector<OptionRow> rows = RowsOf("Capability");
  return {"", "", rows};
}

OptionGroup TensorRtPluginGroup() {
  static const std::vector<OptionRow> rows = RowsOf("Plugins");
  return {"TensorRT plugins", "TensorRT plugin libraries", rows, "--trt"};
}

OptionGroup TensorRtParserGroup() {
  static const std::vector<OptionRow> rows = RowsOf("Parser");
  return {"TensorRT ONNX parser", "TensorRT's ONNX parser", rows, "--trt"};
}

OptionGroup TensorRtNetworkGroup() {
  static const std::vector<OptionRow> rows = RowsOf("Network");
  return {"TensorRT network", "outputs, types and scripts of a TensorRT network", rows, "--trt"};
}

OptionGroup TensorRtEngineGroup() {
  static const std::vector<OptionRow> rows = RowsOf("Engine");
  return {"TensorRT engine", "saving and loading TensorRT engines", rows, "--trt"};
}

std::vector<OptionGroup> TensorRtLoadGroup() {
  return {TensorRtPluginGroup(), TensorRtParserGroup(), TensorRtNetworkGroup(),
          TensorRtEngineGroup()};
}

OptionGroup TensorRtRunGroup() {
  static const std::vector<OptionRow> rows = RowsOf("Inference");
  return {"TensorRT inference", "running TensorRT engines", rows, "--trt"};
}

}  // namespace vernier
