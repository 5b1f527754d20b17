#include "cli/bind_tensorrt.h"

#include <algorithm>
#include <array>
#include <set>

#include "cli/options/groups.h"
#include "inputs/shape_grid.h"
#include "inputs/shape_spec.h"

namespace vernier {
namespace {

// Of the options in TensorRT's groups, those that this program looks at itself. All others are
// handed to the plug-in as they are.
constexpr std::string_view kOwnDests[] = {"fp32", "timing_cache", "trt_lib"};

constexpr std::string_view kProfileDests[] = {"trt_min_shapes", "trt_opt_shapes", "trt_max_shapes"};

// Python functions that touch TensorRT's own objects: the whole runner moves to Python.
constexpr std::string_view kScripts[] = {
    "trt_config_script",
    "trt_config_postprocess_script",
    "trt_network_postprocess_script",
};

// Only looked at with --int8, which calibrates with them.
constexpr std::string_view kCalibration[] = {"calibration_cache", "calibration_base_class",
                                             "quantile", "regression_cutoff"};

// A row of TensorRT's groups, or the one of them that only convert has.
bool IsInTensorRtGroup(std::string_view dest) {
  static const std::set<std::string_view> dests = [] {
    std::vector<OptionGroup> groups = TensorRtLoadGroup();
    groups.push_back(TensorRtConfigGroup());
    groups.push_back(TensorRtRunGroup());
    std::set<std::string_view> found = {"engine_capability"};
    for (const OptionGroup& group : groups) {
      for (const OptionRow& row : group.rows) found.insert(row.dest);
    }
    return found;
  }();
  return dests.contains(dest);
}

template <size_t N>
bool HasDest(const std::string_view (&dests)[N], std::string_view dest) {
  return std::find(std::begin(dests), std::end(dests), dest) != std::end(dests);
}

bool IsForTensorRt(std::string_view dest) {
  return IsInTensorRtGroup(dest) && !HasDest(kOwnDests, dest) && !HasDest(kProfileDests, dest) &&
         !HasDest(kScripts, dest) && !HasDest(kCalibration, dest);
}

std::string JoinLines(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "\n") + word;
  return text;
}

Status CheckCombinations(const ParsedArgs& args, Logger& logger) {
  for (const GivenOption& given : args.given()) {
    const bool calibration = HasDest(kCalibration, given.row->dest);
    if (calibration && !args.Has("int8")) {
      logger.Once(Severity::kWarning,
                  "Some int8 calibrator options were set, but int8 precision is not enabled. "
                  "Calibration options will be ignored.");
    }
  }
  if (args.Has("exclude_lean_runtime") && !args.Has("version_compatible")) {
    return InvalidArgument(
        "`--exclude-lean-runtime` requires `--version-compatible` to be enabled.");
  }
  for (const std::string_view script : kScripts) {
    if (!args.Has(script) || !args.Has("trt_lib")) continue;
    return InvalidArgument("--trt-lib: with " + std::string(args.Flag(script)) +
                           " TensorRT runs in Python, with the library of its own module");
  }
  return {};
}

std::string FormatExtents(const std::vector<Dim>& shape) {
  std::string text;
  for (const Dim& dim : shape) text += (text.empty() ? "" : ",") + std::to_string(dim.value);
  return text;
}

// The peer's filling of gaps: one running table of shapes, starting with --input-shapes, updated
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
  size_t count = args.Has("input_shapes") ? 1 : 0;
  for (size_t i = 0; i < given.size(); ++i) {
    given[i] = args.Occurrences(kProfileDests[i]);
    count = std::max(count, given[i].size());
  }
  if (count == 0) return {};
  // A runner's own profiles stand in place of the run's.
  std::erase_if(runner.session_options,
                [](const auto& option) { return option.first == "profile"; });
  ProfileTable table(logger);
  const std::string_view flag = args.Flag("input_shapes");
  VERNIER_ASSIGN_OR_RETURN(const auto sets, ExpandShapeGrid(args.List("input_shapes")));
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

bool IsTensorRtDest(std::string_view dest) { return IsInTensorRtGroup(dest) && dest != "fp32"; }

Status BindTensorRt(const ParsedArgs& args, RunnerPlan& runner, Logger& logger) {
  VERNIER_TRY(CheckCombinations(args, logger));
  for (const GivenOption& given : args.given()) {
    const bool calibration = args.Has("int8") && HasDest(kCalibration, given.row->dest);
    const bool script = HasDest(kScripts, given.row->dest);
    if (script) runner.place = RunnerPlace::kPython;
    if (!calibration && !script && !IsForTensorRt(given.row->dest)) continue;
    const bool is_switch = given.row->arity == Arity::kNone;
    runner.session_options.emplace_back(given.row->dest, is_switch ? "1" : JoinLines(given.values));
  }
  if (const auto cache = args.Value("timing_cache")) {
    runner.session_options.emplace_back("load_timing_cache", *cache);
    runner.session_options.emplace_back("save_timing_cache", *cache);
  }
  // What marks every tensor of the run marks TensorRT's, too.
  if (args.Has("mark_all")) runner.session_options.emplace_back("trt_outputs", "*");
  return BindProfiles(args, runner, logger);
}

}  // namespace vernier
