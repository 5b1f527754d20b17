#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr std::string_view kPluginModes[] = {"greedy", "exhaustive"};

constexpr OptionRow kPluginPatterns[] = {
    {.flags = {"--plugin-dir"},
     .dest = "plugin_dir",
     .sets = Sets<&PythonToolWords::plugin_dir>(),
     .files = FileUse::kUnchecked,
     .arity = Arity::kOne,
     .required = true,
     .metavar = "DIR",
     .help = "The folder of plugins; each is a folder that contains a pattern.py."},
    {.flags = {"--include"},
     .dest = "include",
     .sets = kForPythonTool,
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Look for these plugins only.",
     .excludes = {"exclude"}},
    {.flags = {"--exclude"},
     .dest = "exclude",
     .sets = kForPythonTool,
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Look for all plugins except these."},
};

constexpr OptionRow kPluginFiles[] = {
    {.flags = {"--config"},
     .dest = "config",
     .sets = kForPythonTool,
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "The file that plugin match wrote. Default: config.yaml beside the model."},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = kForPythonTool,
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "The file to write. Default: beside the model, config.yaml for match and replaced.onnx"
             " for replace."},
};

constexpr OptionRow kAutotune[] = {
    {.flags = {"--python-plugins"},
     .dest = "python_plugins",
     .sets = kForPythonTool,
     .files = FileUse::kReads,
     .arity = Arity::kPlus,
     .metavar = "FILE",
     .help = "Python files that register plugins with TensorRT."},
    {.flags = {"--plugin-libraries"},
     .dest = "plugin_libraries",
     .sets = kForPythonTool,
     .files = FileUse::kReads,
     .arity = Arity::kPlus,
     .metavar = "FILE",
     .help = "Libraries of TensorRT plugins."},
    {.flags = {"--report"},
     .dest = "report",
     .sets = kForPythonTool,
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Write the measurements and the choice as text."},
    {.flags = {"--autotune-mode"},
     .dest = "autotune_mode",
     .sets = kForPythonTool,
     .arity = Arity::kOne,
     .choices = kPluginModes,
     .fallback = "greedy",
     .metavar = "MODE",
     .help = "greedy: one subgraph after another; exhaustive: all combinations."},
    {.flags = {"--max-combinations"},
     .dest = "max_combinations",
     .sets = kForPythonTool,
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1000",
     .metavar = "N",
     .help = "Try at most N combinations."},
    {.flags = {"--threshold"},
     .dest = "threshold",
     .sets = kForPythonTool,
     .arity = Arity::kOne,
     .type = ValueType::kFloat,
     .fallback = "0.1",
     .metavar = "FRACTION",
     .help = "Stop trying combinations once one is faster by this fraction."},
    {.flags = {"--no-timing-cache"},
     .dest = "no_timing_cache",
     .sets = kForPythonTool,
     .help = "Let TensorRT time its kernels again for each engine."},
    {.flags = {"--timing-cache"},
     .dest = "timing_cache",
     .sets = kForPythonTool,
     .files = FileUse::kUnchecked,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Read TensorRT's timing cache from this file, and write it back."},
    {.flags = {"--save-config-yaml"},
     .dest = "save_config_yaml",
     .sets = kForPythonTool,
     .files = FileUse::kWritesThere,
     .arity = Arity::kOptional,
     .constant = "config.yaml",
     .metavar = "FILE",
     .help = "Write the matches to FILE, or to config.yaml if no file is named."},
    {.flags = {"--load-config-yaml"},
     .dest = "load_config_yaml",
     .sets = kForPythonTool,
     .files = FileUse::kUnchecked,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Read the matches from this file instead of searching for them."},
    {.flags = {"--skip-autotuning"},
     .dest = "skip_autotuning",
     .sets = kForPythonTool,
     .help = "Stop after matching; write no model."},
};

}  // namespace

OptionGroup PluginPatternGroup() {
  return {"Plugin patterns", "which plugins to look for", kPluginPatterns};
}
OptionGroup PluginFileGroup() { return {"Files", "the files of matches", kPluginFiles}; }
OptionGroup PluginAutotuneGroup() {
  return {"Autotuning", "the search for the fastest replacements", kAutotune};
}

}  // namespace vernier
