#include "options/bind/runner_words.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "model/onnx/model_type.h"
#include "options/bind/part_words.h"
#include "options/table/option_values.h"
#include "record/schema/runner_name.h"
#include "run/runner/engine_use.h"
#include "run/runner/own_python.h"
#include "run/runner/resolve_runner.h"
#include "run/runner/runner_kinds.h"
#include "run/runner/script_runner.h"
#include "util/text/shell_words.h"
#include "util/text/split_text.h"

namespace vernier {
namespace {

constexpr std::string_view kKeras = "keras";

// Keras is what becomes of TensorFlow's runner for some models.
std::string BackendOf(const RunnerPlan& runner) {
  return runner.backend == kKeras ? "tensorflow" : runner.backend;
}

// What a runner's list of options has, and the row that put it there; null: it is a plug-in's own.
struct RunnerEntry {
  const OptionRow* row = nullptr;
  std::string key, value;

  bool operator==(const RunnerEntry&) const = default;
};
using RunnerEntries = std::vector<RunnerEntry>;

// Of those that hand on what they were given: their key is their name, or the row says it.
const OptionRow* RowOf(const OptionTable& table, const std::string& backend,
                       const std::string& key) {
  // --tf-outputs gives TensorFlow itself another key than others.
  const std::string dest = backend == "tensorflow" && key == "outputs" ? "tf_outputs" : key;
  for (const OptionRow* row : table.rows()) {
    const Binding& sets = row->sets;
    const bool of_backend =
        sets.backend.empty() ? sets.part == &kPartTag<RunnerPlan> : sets.backend == backend;
    if (!of_backend) continue;
    if (sets.key.empty() ? row->dest == dest : sets.key == key) return row;
  }
  return nullptr;
}

RunnerEntries EntriesOf(const OptionTable& table, const RunnerPlan& runner) {
  RunnerEntries entries;
  const std::string backend = BackendOf(runner);
  const auto is_own = [&](const std::string& key) {
    return std::ranges::find(runner.plugin_options, key) != runner.plugin_options.end();
  };
  std::set<const OptionRow*> of_session;
  for (const auto& [key, value] : runner.session_options) {
    // Keras has a second list of the same outputs.
    if (is_own(key) || (runner.backend == kKeras && key == "tf_outputs")) continue;
    const OptionRow* row = RowOf(table, backend, key);
    if (row == nullptr) continue;
    of_session.insert(row);
    entries.push_back({row, key, value});
  }
  for (const auto& [key, value] : runner.backend_options) {
    const OptionRow* row = is_own(key) ? nullptr : RowOf(table, backend, key);
    if ((row == nullptr && !is_own(key)) || of_session.contains(row)) continue;
    entries.push_back({row, key, value});
  }
  return entries;
}

// TensorRT's options have all words of one time in a value, a line each.
bool IsWhole(const OptionRow& row) {
  return row.arity != Arity::kPlus || row.sets.backend == "tensorrt";
}

void AddEntryWords(const std::string& backend, const RunnerEntries& entries,
                   std::vector<std::string>& words) {
  for (size_t i = 0; i < entries.size(); ++i) {
    const RunnerEntry& entry = entries[i];
    if (entry.row == nullptr) {
      words.push_back("--" + backend + "." + entry.key + "=" + entry.value);
      continue;
    }
    const OptionRow& row = *entry.row;
    if (row.arity == Arity::kNone) {
      AddOptionWords(row, {{}}, words);
      continue;
    }
    std::vector<std::string> values = {entry.value};
    if (row.arity == Arity::kPlus && IsWhole(row)) values = SplitAt(entry.value, '\n');
    for (; !IsWhole(row) && i + 1 < entries.size() && entries[i + 1].row == &row; ++i) {
      values.push_back(entries[i + 1].value);
    }
    AddOptionWords(row, {values}, words);
  }
}

// "--trt-min-shapes x:[1,3]" and its like, profile by profile.
std::vector<std::string> WordsOfProfiles(const RunnerPlan& runner) {
  std::vector<std::string> words;
  std::string last;
  for (const auto& [key, value] : runner.session_options) {
    const std::vector<std::string> parts = SplitAt(value, '\t');
    if (key != "profile" || parts.size() < 3) continue;
    const std::string which = parts[0] + parts[1];
    if (which != std::exchange(last, which)) words.push_back("--trt-" + parts[1] + "-shapes");
    words.push_back(parts[2] + ":[" + (parts.size() > 3 ? parts[3] : "") + "]");
  }
  return words;
}

// As it is seen from the folder that the program was started in.
std::string FromHere(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error || !fs::path(path).is_absolute()) return path;
  const std::string relative = fs::path(path).lexically_relative(here).string();
  return relative.empty() || relative.starts_with("..") ? path : relative;
}

// The model as words name it: without the type that its file has anyhow.
ModelPlan NamedModel(const RunnerPlan& runner) {
  ModelPlan model = runner.model;
  ModelTypeHints hints;
  hints.tensorflow_runner = ReadsTensorFlow(BackendOf(runner));
  hints.checkpoint_given = HasOption(runner, "ckpt");
  if (model.path.empty()) return model;
  const Result<ModelType> found = InferModelType(model.path, hints);
  if (found.ok() && ModelTypeName(*found) == model.type) model.type.clear();
  model.path = FromHere(model.path);
  for (const auto& [key, value] : runner.session_options) {
    if (key == "model_extra") model.path += ":" + value;
  }
  return model;
}

// What --model-runner or the backend of --runner names; empty where the runner is none of these.
std::string ScriptOf(const RunnerPlan& runner) {
  if (runner.backend != "python") return "";
  std::string script, function;
  std::vector<std::string> program;
  for (const auto& [key, value] : runner.session_options) {
    if (key == "script") script = value;
    if (key == "function") function = ":" + value;
    if (key == "word") program.push_back(value);
  }
  if (script != "builtin:program") return script + function;
  if (program.size() > 1 && program.front() == "{python}") program.erase(program.begin());
  return program.size() == 1 ? program.front() : JoinForShell(program);
}

class RunnersAsWords {
 public:
  RunnersAsWords(const std::vector<RunnerPlan>& runners, const OptionTable& table,
                 ProfileWords profiles)
      : runners_(runners), table_(table), profiles_(profiles) {
    std::map<std::string, int> counters;
    for (const RunnerPlan& runner : runners) {
      const RunnerKind kind = KindOf(BackendOf(runner));
      const bool flagged = table.Find("--" + std::string(kind.flag_word)) != nullptr;
      const std::string prefix =
          runner.backend == "python" ? ModelRunnerStem(runner) : std::string(kind.name_prefix);
      const std::string usual = prefix + "-N" + std::to_string(counters[prefix]);
      const bool named =
          (!flagged && runner.backend != "python") || WithoutTime(runner.name) != usual;
      counters[prefix] += named ? 0 : 1;
      labelled_.push_back(named);
      if (!named) of_run_.try_emplace(BackendOf(runner), EntriesOf(table, runner));
    }
    FindRunModel();
  }

  std::vector<std::string> Write() const {
    std::vector<std::string> words, options;
    std::set<std::string> said;
    AddPartWords(table_, {run_model_}, options);
    if (!run_model_.path.empty()) {
      words.push_back(run_model_.path);
      options.erase(options.begin());  // a positional is no option
    }
    for (size_t i = 0; i < runners_.size(); ++i) {
      const RunnerPlan& runner = runners_[i];
      if (labelled_[i]) {
        words.insert(words.end(), {"--runner", runner.name + "=" + JoinForShell(Labelled(runner))});
      } else if (const std::string script = ScriptOf(runner); !script.empty()) {
        words.insert(words.end(), {"--model-runner", script});
      } else {
        words.push_back("--" + std::string(RunnerFlagWord(BackendOf(runner))));
        if (said.insert(BackendOf(runner)).second) AddRunOptions(runner, options);
      }
    }
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

 private:
  // Of the runners that take the run's model what all have alike. Engines lose what is marked.
  void FindRunModel() {
    std::vector<const RunnerPlan*> takers;
    for (const bool labelled : {false, true}) {
      for (size_t i = 0; i < runners_.size(); ++i) {
        const bool engine = BuildsEngines(runners_[i].backend);
        if (labelled_[i] == labelled && !engine) takers.push_back(&runners_[i]);
      }
      for (size_t i = 0; i < runners_.size() && takers.empty(); ++i) {
        if (labelled_[i] == labelled) takers.push_back(&runners_[i]);
      }
      if (!takers.empty()) break;
    }
    for (const RunnerPlan* runner : takers) {
      const ModelPlan model = NamedModel(*runner);
      if (runner == takers.front()) {
        run_model_ = model;
        continue;
      }
      if (model.path != run_model_.path) {
        run_model_ = ModelPlan();  // each has its own
        return;
      }
      if (model.outputs != run_model_.outputs) run_model_.outputs.clear();
      run_model_.fp_to_fp16 &= model.fp_to_fp16;
      run_model_.shape_inference &= model.shape_inference;
      run_model_.symbolic_inference |= model.symbolic_inference;
      run_model_.ignore_external_data &= model.ignore_external_data;
    }
    // The function of a network's script is known to TensorRT's runners alone.
    for (size_t i = 0; i < runners_.size(); ++i) {
      const std::string path = labelled_[i] ? "" : NamedModel(runners_[i]).path;
      if (path.starts_with(run_model_.path + ":")) run_model_.path = path;
    }
  }

  // Rows of any backend are said once.
  void AddRunOptions(const RunnerPlan& runner, std::vector<std::string>& words) const {
    RunnerEntries entries = of_run_.at(BackendOf(runner));
    std::erase_if(entries, [&](const RunnerEntry& entry) {
      if (entry.row == nullptr || !entry.row->sets.backend.empty()) return false;
      return std::ranges::find(words, entry.row->flags[0]) != words.end();
    });
    AddPlace(runner, words);
    AddEntryWords(BackendOf(runner), entries, words);
    if (profiles_ == ProfileWords::kSaid) Append(WordsOfProfiles(runner), words);
  }

  // A backend's options behind the run's, and the model where it is not the run's.
  std::vector<std::string> Labelled(const RunnerPlan& runner) const {
    const std::string backend = BackendOf(runner), script = ScriptOf(runner);
    std::vector<std::string> words = {script.empty() ? std::string(RunnerFlagWord(backend))
                                                     : script};
    AddPartWords(table_, {ModelOf(runner)}, words);
    RunnerEntries entries = EntriesOf(table_, runner);
    if (const auto of_run = of_run_.find(backend); of_run != of_run_.end()) {
      const auto differ = std::ranges::mismatch(of_run->second, entries);
      if (differ.in1 == of_run->second.end()) entries.erase(entries.begin(), differ.in2);
    }
    AddPlace(runner, words);
    AddEntryWords(backend, entries, words);
    const std::vector<std::string> shapes = WordsOfProfiles(runner);
    if (profiles_ == ProfileWords::kSaid && shapes != ShapesOfRun(backend)) Append(shapes, words);
    if (const std::string python = OwnPython(runner); !python.empty()) {
      words.insert(words.end(), {"--python", python});
    }
    return words;
  }

  // What a labelled runner says of its model beside the run's.
  ModelPlan ModelOf(const RunnerPlan& runner) const {
    ModelPlan own = NamedModel(runner);
    const bool same_edits = own.outputs == run_model_.outputs &&
                            own.exclude_outputs == run_model_.exclude_outputs &&
                            own.outputs_by_type == run_model_.outputs_by_type;
    if (own.path != run_model_.path) {
      if (same_edits) own.outputs = own.exclude_outputs = own.outputs_by_type = {};
      return own;
    }
    ModelPlan said;
    if (own.outputs != run_model_.outputs) said.outputs = own.outputs;
    said.fp_to_fp16 = own.fp_to_fp16 && !run_model_.fp_to_fp16;
    said.shape_inference = own.shape_inference && !run_model_.shape_inference;
    said.symbolic_inference = own.symbolic_inference || !run_model_.symbolic_inference;
    said.ignore_external_data = own.ignore_external_data && !run_model_.ignore_external_data;
    return said;
  }

  std::vector<std::string> ShapesOfRun(const std::string& backend) const {
    for (size_t i = 0; i < runners_.size(); ++i) {
      if (!labelled_[i] && BackendOf(runners_[i]) == backend) return WordsOfProfiles(runners_[i]);
    }
    return {};
  }

  void AddPlace(const RunnerPlan& runner, std::vector<std::string>& words) const {
    const OptionRow* row = table_.FindDest("torch_in");
    if (runner.backend != "torch" || row == nullptr) return;
    AddOptionWords(*row, row->sets.words(*row, &runner), words);
  }

  static void Append(const std::vector<std::string>& more, std::vector<std::string>& words) {
    words.insert(words.end(), more.begin(), more.end());
  }

  const std::vector<RunnerPlan>& runners_;
  const OptionTable& table_;
  const ProfileWords profiles_;
  std::vector<bool> labelled_;
  std::map<std::string, RunnerEntries> of_run_;  // of those without a label, by backend
  ModelPlan run_model_;
};

}  // namespace

std::vector<std::string> WordsOfRunners(const std::vector<RunnerPlan>& runners,
                                        const OptionTable& table, ProfileWords profiles) {
  return RunnersAsWords(runners, table, profiles).Write();
}

}  // namespace vernier
