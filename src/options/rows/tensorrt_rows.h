// TensorRT's options, made of the list that its plug-in has as well: backends/tensorrt/options.def.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

/// What the words of an option are in the argument of a network's loader: names; names, or all of
/// them; a type or formats for single tensors, or for all.
enum class NetworkValue : uint8_t { kNames, kOutputs, kNamedTypes, kType, kNamedFormats, kFormats };

/// What an option is to Polygraphy's API, and to TensorRT in Python.
struct TensorRtArgument {
  uint8_t place = 0;               ///< among the arguments of CreateConfig; 0: it is none
  std::string_view argument = {};  ///< which one it is, where that has another name and value
  bool plugin_only = false;        ///< refused where TensorRT runs in Python
  bool of_parser = false;          ///< an argument of the loader that parses an ONNX model
  /// The loader that applies it to a parsed network. Of two options for one argument the one that
  /// comes last is used.
  std::string_view loader = {};
  NetworkValue value = NetworkValue::kNames;
};

struct TensorRtOption {
  std::string_view group;
  OptionRow row;  ///< hands the option on as it is unless the list says something else
  std::string_view builder_flag;  ///< the member of BuilderFlag that it sets; empty: none
  TensorRtArgument python;
};

/// All of them, in the order of --help.
std::span<const TensorRtOption> TensorRtOptions();
/// The arguments of CreateConfig, in its order.
std::vector<const TensorRtOption*> TensorRtArguments();

/// What Python knows of the options, as JSON: the arguments of CreateConfig that have the option's
/// name and value, and by how a builder configuration of TensorRT's has them the options that set a
/// flag (with its name), a number or a member of an enumeration, and those that it is refused.
std::string TensorRtOptionsJson();

}  // namespace vernier
