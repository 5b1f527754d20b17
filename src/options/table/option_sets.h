// Sets of options that several commands share. A command lists these, whole groups of
// options/groups.h, and rows of its own.
#pragma once

#include <vector>

#include "options/table/groups.h"
#include "options/table/option_table.h"

namespace vernier {

// Models.
CommandGroup ModelFileOptions();            ///< the file and its type
CommandGroup ModelAndShapeOptions();        ///< those and the shapes of inputs
CommandGroup LoadedModelOptions();          ///< external weights, float16
CommandGroup StrictlyLoadedModelOptions();  ///< those and --strict-external-data
CommandGroup NewOutputOptions();            ///< what Polygraphy's commands have for loading
CommandGroup MarkedOutputOptions();         ///< --outputs and its siblings
CommandGroup SavedModelOptions();           ///< where the weights of a saved model go
/// What all commands have that change an ONNX model; `own` are the rows of one.
std::vector<CommandGroup> SurgeonOptions(const OptionGroup& own);

// Inputs.
CommandGroup OneRunInputOptions();  ///< of a model that runs once and whose tensors are shown
CommandGroup ToolInputOptions();    ///< what Polygraphy's tools accept though most feed nothing
CommandGroup DrawnOrReadInputOptions();  ///< without ranges from a graph or a sample

// Runners and their workers.
CommandGroup LoneRunnerOptions();    ///< which are not compared with each other
CommandGroup PythonWorkerOptions();  ///< commands whose work is done by Python
CommandGroup AnyWorkerOptions();     ///< commands that load backends, in workers only
CommandGroup BackendPlaceOptions();  ///< where backends and Python are looked for
/// What `run` has for runners, models and inputs; nothing is compared with another runner or saved.
std::vector<CommandGroup> RunnerAndInputOptions();
/// What all commands have that build engines, beside the model and inputs.
std::vector<CommandGroup> EngineOptions();

}  // namespace vernier
