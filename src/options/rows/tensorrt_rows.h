// What the rows of TensorRT's groups mean: most are handed to its plug-in as they are.
#pragma once

#include <span>
#include <vector>

#include "options/table/option_table.h"
#include "options/table/option_values.h"

namespace vernier {

/// Hands an option to TensorRT: its dest is the key, the words of one occurrence are lines of the
/// value, and a switch is "1".
Status AddEngineOption(const OptionInput& input, RunnerPlan& runner);

/// The same of Python functions that touch TensorRT's own objects: the whole runner moves to
/// Python.
Status AddEngineScript(const OptionInput& input, RunnerPlan& runner);

inline constexpr std::string_view kEngines = "tensorrt";
inline constexpr Binding kEngineOption = SetBy<&AddEngineOption>().For(kEngines);
inline constexpr Binding kEngineScript = SetBy<&AddEngineScript>().For(kEngines);
inline constexpr Binding kEngineTogether = kBoundTogether.For(kEngines);

/// The rows, where kEngineOption is the meaning of those that have none of their own.
std::vector<OptionRow> EngineRows(std::span<const OptionRow> rows);

}  // namespace vernier
