#include "options/bind/bind_tensorrt.h"

#include <algorithm>
#include <array>

#include "inputs/shape_grid.h"
#include "inputs/shape_spec.h"
#include "options/rows/tensorrt_rows.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"

namespace vernier {
namespace {

constexpr std::string_view kProfileDests[] = {"trt_min_shapes", "trt_opt_shapes", "trt_max_shapes"};

// Only looked at with --int8, which calibrates with them.
constexpr std::string_view kCalibration[] = {"calibration_cache", "calibration_base_class",
                                             "quantile", "regression_cutoff"};

bool IsForCalibration(const GivenOption& given) {
  return std::ranges::find(kCalibration, given.row->dest) != std::end(kCalibration);
}

Status CheckCombinations(const ParsedArgs& args, Logger& logger) {
  for (const GivenOption& given : args.given()) {
    if (IsForCalibration(given) && !args.Has("int8")) {
      logger.Once(Severity::kWarning,
                  "Some int8 calibrator options were set, but int8 precision is not enabled. "
                  "Calibration options will be ignored.");
    }
  }
  if (args.Has("exclude_lean_runtime") && !args.Has("version_compatible")) {
    return InvalidArgument(
        "`--exclude-lean-runtime` requires `--version-compatible` to be enabled.");
  }
  for (const GivenOption& given : args.given()) {
    if (given.row->sets.set != kEngineScript.set || !args.Has("trt_lib")) continue;
    return InvalidArgument("--trt-lib: with " + std::string(given.flag) +
                           " TensorRT runs in Python, with the library of its own module");
  }
  return {};
}

std::string FormatExtents(const std::vector<Dim>& shape) {
  std::string text;
  for (const Dim& dim : shape) text += (text.empty() ? "" : ",") + std::to_string(dim.value);
  return text;
}

// Polygraphy's filling of gaps: one running table of shapes, starting with --input-shapes, updated
// and read in the order min, opt, max of each profile. So opt and max follow min, and what the
// second profile leaves out comes from the first one's max.
class ProfileTable {
 public:
  explicit ProfileTable(Logger& logger) : logger_(logger) {}

  Status Update(std::string_view flag, std::span<const std::string> words) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<ShapeSpec> specs,
                             ParseShapeSpecs(words, Strictness::kStrict, flag));
    for (const ShapeSpec& spec : specs) {
      if (spec.shape) Set(spec.name, *spec.shape);
    }
    return {};
  }

  /// Several sets of shapes: a profile spans them, and is made for the first.
  Status Span(std::string_view flag, size_t which, std::span<const std::vector<std::string>> sets) {
    constexpr size_t kOpt = 1, kMax = 2;
    VERNIER_TRY(Update(flag, sets.front()));
    if (which == kOpt) return {};
    for (const std::vector<std::string>& set : sets) {
      VERNIER_ASSIGN_OR_RETURN(const std::vector<ShapeSpec> specs,
                               ParseShapeSpecs(set, Strictness::kStrict, flag));
      for (const ShapeSpec& spec : specs) {
        if (spec.shape) VERNIER_TRY(Widen(flag, spec, which == kMax));
      }
    }
    return {};
  }

  void AddTo(size_t index, std::string_view which, RunnerPlan& runner) const {
    for (const auto& [name, shape] : shapes_) {
      runner.session_options.emplace_back("profile", std::to_string(index) + "\t" +
                                                         std::string(which) + "\t" + name + "\t" +
                                                         FormatExtents(shape));
    }
  }

 private:
  Status Widen(std::string_view flag, const ShapeSpec& spec, bool to_larger) {
    const auto found = std::find_if(shapes_.begin(), shapes_.end(),
                                    [&](const auto& entry) { return entry.first == spec.name; });
    if (found == shapes_.end() || found->second.size() != spec.shape->size()) {
      return InvalidArgument(std::string(flag) + ": a profile of TensorRT cannot span shapes of " +
                             "different ranks, as those of '" + spec.name + "'");
    }
    for (size_t axis = 0; axis < spec.shape->size(); ++axis) {
      int64_t& size = found->second[axis].value;
      const Dim& other = (*spec.shape)[axis];
      const int64_t next = other.dynamic() ? 1 : other.value;
      size = to_larger ? std::max(size, next) : std::min(size, next);
    }
    return {};
  }

  void Set(const std::string& name, std::vector<Dim> shape) {
    for (Dim& dim : shape) {
      if (!dim.dynamic()) continue;
      logger_.Once(Severity::kWarning, "Input tensor: " + name +
                                           " | For TensorRT profile, dynamic dimensions become 1");
      dim = Dim{1, {}};
    }
    const auto found = std::find_if(shapes_.begin(), shapes_.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (found == shapes_.end()) {
      shapes_.emplace_back(name, std::move(shape));
    } else {
      found->second = std::move(shape);
    }
  }

  Logger& logger_;
  std::vector<std::pair<std::string, std::vector<Dim>>> shapes_;
};

Status BindProfiles(const ParsedArgs& args, RunnerPlan& runner, Logger& logger) {
  constexpr std::array<std::string_view, 3> kWhich = {"min", "opt", "max"};
  std::array<std::vector<std::span<const std::string>>, 3> given;
  size_t count = IsGiven<&FeedWords::shapes>(args) ? 1 : 0;
  for (size_t i = 0; i < given.size(); ++i) {
    given[i] = args.Occurrences(kProfileDests[i]);
    count = std::max(count, given[i].size());
  }
  if (count == 0) return {};
  // A runner's own profiles stand in place of the run's.
  std::erase_if(runner.session_options,
                [](const auto& option) { return option.first == "profile"; });
  ProfileTable table(logger);
  const std::string_view flag = FlagOf<&FeedWords::shapes>(args);
  VERNIER_ASSIGN_OR_RETURN(const auto sets, ExpandShapeGrid(ReadField<&FeedWords::shapes>(args)));
  if (sets.size() == 1) VERNIER_TRY(table.Update(flag, sets.front()));
  for (size_t profile = 0; profile < count; ++profile) {
    for (size_t i = 0; i < given.size(); ++i) {
      if (sets.size() > 1) VERNIER_TRY(table.Span(flag, i, sets));
      if (profile < given[i].size()) {
        VERNIER_TRY(table.Update(args.Flag(kProfileDests[i]), given[i][profile]));
      }
      table.AddTo(profile, kWhich[i], runner);
    }
  }
  return {};
}

}  // namespace

bool IsForTensorRt(const OptionRow& row) { return row.sets.backend == kEngines; }

Status BindTensorRt(const ParsedArgs& args, RunnerPlan& runner, Logger& logger) {
  VERNIER_TRY(CheckCombinations(args, logger));
  const BindContext context = {.log = &logger};
  VERNIER_TRY(BindOptions(args, context, {runner}));
  for (const GivenOption& given : args.given()) {
    if (!args.Has("int8") || !IsForCalibration(given)) continue;
    VERNIER_TRY(AddEngineOption({given, context}, runner));
  }
  // What marks every tensor of the run marks TensorRT's, too.
  if (ReadField<&MarkWords::all>(args)) runner.session_options.emplace_back("trt_outputs", "*");
  return BindProfiles(args, runner, logger);
}

}  // namespace vernier
