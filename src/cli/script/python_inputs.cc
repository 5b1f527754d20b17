#include "cli/script/python_script_writer.h"
#include "inputs/value_ranges.h"

namespace vernier {
namespace {

// A dictionary of pairs; empty: there are none.
std::string RangesOf(const std::vector<NamedRange>& ranges) {
  std::string values;
  for (const NamedRange& range : ranges) {
    std::string bounds = FormatRange(range.range);
    bounds.front() = '(';
    bounds.back() = ')';
    for (const char* word : {"inf", "nan"}) {
      const size_t at = bounds.find(word);
      if (at != std::string::npos) bounds.replace(at, 3, "float('" + std::string(word) + "')");
    }
    values += (values.empty() ? "" : ", ") + QuotePython(range.name) + ": " + bounds;
  }
  return values.empty() ? "" : "{" + values + "}";
}

}  // namespace

std::string PythonScript::Shapes(const std::vector<ShapeSpec>& shapes) {
  Import("polygraphy.common", "TensorMetadata");
  std::string text = "TensorMetadata()";
  for (const ShapeSpec& spec : shapes) {
    std::string dims;
    for (const Dim& dim : spec.shape.value_or(std::vector<Dim>())) {
      const std::string one =
          dim.symbol.empty() ? std::to_string(dim.value) : QuotePython(dim.symbol);
      dims += (dims.empty() ? "" : ", ") + one;
    }
    text += ".add(" + QuotePython(spec.name) + ", None, " +
            (spec.shape ? "[" + dims + "]" : "None") + ")";
  }
  return text;
}

Status PythonScript::DataLoader() {
  const InputPlan& inputs = plan_.inputs;
  if (inputs.script.given()) {
    Import("polygraphy", "mod");
    Title("Data Loader");
    Let("data_loader", "mod.import_from_script(" + QuotePython(inputs.script.path) +
                           ", name=" + QuotePython(inputs.script.function) + ")");
    has_data_loader_ = data_is_a_function_ = true;
    return {};
  }
  if (!inputs.load_paths.empty()) {
    Title("Data Loader");
    Let("data_loader", Compare("StreamingDataLoader")
                           .Add(FormatPythonList(inputs.load_paths))
                           .Add("allow_dirs", "True")
                           .Text());
    has_data_loader_ = true;
    return {};
  }
  return RandomData();
}

Status PythonScript::RandomData() {
  const InputPlan& inputs = plan_.inputs;
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ShapeSpec> shapes,
                           ParseShapeSpecs(inputs.shape_words, Strictness::kPolygraphy));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<NamedRange> ranges,
                           ParseValueRanges(inputs.range_words));
  if (!inputs.dims.empty()) return Unimplemented("Polygraphy has no sizes by name, as --dim has");
  std::set<std::string> names;
  for (const ShapeSpec& spec : shapes) {
    if (names.insert(spec.name).second) continue;
    return Unimplemented("Polygraphy does not use several --input-shapes of '" + spec.name +
                         "' in turn");
  }
  PythonCall call("DataLoader");
  const std::string values = RangesOf(ranges);
  call.AddIf(inputs.seed != InputPlan().seed, "seed", std::to_string(inputs.seed))
      .AddIf(inputs.iterations.has_value(), "iterations",
             std::to_string(inputs.iterations.value_or(1)))
      .AddIf(!values.empty(), "val_range", values);
  if (!shapes.empty()) call.Add("input_metadata", Shapes(shapes));
  call.AddIf(inputs.torch_numbers, "data_loader_backend_module", QuotePython("torch"));
  if (call.Text() == "DataLoader()") return {};
  Import("polygraphy.comparator", "DataLoader");
  Title("Data Loader");
  Let("data_loader", call.Text());
  has_data_loader_ = true;
  return {};
}

}  // namespace vernier
