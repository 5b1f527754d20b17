// What the surgeon commands share: a model is opened, changed and saved, and the log says how it
// looked before and after.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command_start.h"
#include "model/edit/onnx_save.h"
#include "model/onnx/replaced_values.h"
#include "surgeon/editable_model.h"
#include "util/files/paths.h"
#include "util/files/scratch_folder.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"

namespace vernier {

/// A model that is being changed, from the words of a surgeon command.
class ToolModel {
 public:
  /// Opens the model; converts it first where --fp-to-fp16 is given, `as_polygraphy` as Polygraphy
  /// does. kUnimplemented for models that are not ONNX.
  static Result<ToolModel> Open(const ParsedArgs& args, bool as_polygraphy, Logger& log);

  /// As the command line has it.
  const ModelPlan& plan() const { return plan_; }

  EditableModel& model() { return *model_; }
  const EditableModel& model() const { return *model_; }

  /// Logs a summary of the model as it is now, under the heading.
  void LogSummary(std::string_view heading, Logger& log) const;

  /// Writes the model to --output and logs its summary.
  Status Save(Logger& log, std::vector<ReplacedValues> values = {}) const;

 private:
  ToolModel() = default;

  ModelPlan plan_;
  std::string output_;
  SaveOnnxOptions save_;
  std::optional<ScratchFolder> converted_;
  std::optional<EditableModel> model_;
};

/// The options of feeds that are given.
std::vector<std::string> FeedFlags(const ParsedArgs& args);

/// Runs a surgeon command from its words to its exit code, with Polygraphy's banners if it has them
/// and no document is asked for.
using ToolWork = std::function<Status(const ParsedArgs& args, ConsoleLog& log)>;
int RunModelTool(const CommandSpec& command, const ToolWork& work, bool banners,
                 std::span<const std::string> words, const Invocation& invocation);

}  // namespace vernier
