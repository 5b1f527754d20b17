#include "inference/extract_shapes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "blame/sides/run_for_tensors.h"
#include "inputs/shape_grid.h"
#include "model/onnx/onnx_order.h"
#include "model/shapes/onnx_shapes.h"
#include "model/shapes/symbolic_shapes.h"
#include "run/feeds/feed_plan.h"
#include "run/runner/changed_model.h"
#include "util/log/no_log.h"
#include "util/text/first_line.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

bool IsFixed(const TensorInfo& info) {
  return info.shape && std::none_of(info.shape->begin(), info.shape->end(),
                                    [](const Dim& dim) { return dim.dynamic(); });
}

bool HasNamelessDim(const TensorInfo& info) {
  return !info.shape || std::any_of(info.shape->begin(), info.shape->end(), [](const Dim& dim) {
    return dim.dynamic() && dim.symbol.empty();
  });
}

bool IsWhollyOpen(const TensorInfo& info) {
  return info.shape && !info.shape->empty() &&
         std::all_of(info.shape->begin(), info.shape->end(),
                     [](const Dim& dim) { return dim.dynamic() && dim.symbol.empty(); });
}

std::vector<Dim> ToShape(std::span<const int64_t> dims) {
  std::vector<Dim> shape;
  for (const int64_t dim : dims) shape.push_back({dim, {}});
  return shape;
}

// The ends of a cut while they are completed: what the user gave stays.
class ExtractEnds {
 public:
  ExtractEnds(const ExtractCompletion& completion, const OnnxModel& model, ExtractPlan& plan)
      : model_(model), forced_(completion.part.forced) {
    const std::vector<TensorInfo> fed = model.RequiredInputs();
    sizes_known_ =
        !completion.part.shape_words.empty() || std::all_of(fed.begin(), fed.end(), IsFixed);
    for (TensorInfo& input : plan.inputs) Add(input, true, completion.part.inputs.has_value());
    // Of outputs the model says at least how many dimensions they have, unless everything is to be
    // found out. Sizes of one feed would be wrong for others.
    for (TensorInfo& output : plan.outputs) {
      const TensorInfo known = DescribeTensors(model_, std::span(&output.name, 1))[0];
      Add(output, forced_ || (sizes_known_ && !known.shape), completion.part.outputs.has_value());
    }
  }

  bool forced() const { return forced_; }

  /// Operator by operator. What no rule covers stays open.
  Status FollowOperators(std::span<const InputDims> fed) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, TopologicalOrder(model_));
    ShapeTracker shapes(model_, fed);
    for (const uint32_t index : order) shapes.Visit(model_.graph(), model_.graph().nodes[index]);
    for (End& end : ends_) {
      const Dims* dims = shapes.Find(end.info->name);
      if (end.wants_shape && dims != nullptr) end.info->shape = ToShape(*dims);
    }
    return {};
  }

  /// Is there a shape that was not given, with dimensions of which neither size nor name is known?
  bool LackNames() const {
    return std::any_of(ends_.begin(), ends_.end(),
                       [](const End& end) { return end.lacks_names && !end.info->shape; });
  }

  /// Sizes and names that follow from those of the inputs, where that is so for all of a tensor's.
  Status FollowNames(std::span<const InputDims> fed) {
    std::vector<std::string> names;
    for (const End& end : ends_) names.push_back(end.info->name);
    VERNIER_ASSIGN_OR_RETURN(const std::vector<TensorInfo> found,
                             FollowNamedSizes(model_, fed, names));
    for (size_t i = 0; i < ends_.size(); ++i) {
      const bool open = ends_[i].lacks_names && !ends_[i].info->shape;
      if (open && !HasNamelessDim(found[i])) ends_[i].info->shape = found[i].shape;
    }
    return {};
  }

  /// What another description of the model says of them.
  void TakeShapes(const OnnxModel& described) {
    for (End& end : ends_) {
      if (!end.lacks_names || end.info->shape) continue;
      const TensorInfo found = DescribeTensors(described, std::span(&end.info->name, 1))[0];
      if (found.shape && !IsWhollyOpen(found)) end.info->shape = found.shape;
    }
  }

  /// Tensors of which even the rank or the type is not known. Where the sizes of the model's inputs
  /// are, or it is forced, also those of which a dimension is not.
  std::vector<std::string> Missing() const {
    std::vector<std::string> names;
    for (const End& end : ends_) {
      const bool none = !end.info->shape && !end.known.shape;
      const bool shape = end.wants_shape && (forced_ || sizes_known_ ? !IsFixed(*end.info) : none);
      const bool type = end.wants_type && end.known.dtype == DType::kUndefined;
      if (shape || type) names.push_back(end.info->name);
    }
    return names;
  }

  /// Tensors of which the rank alone is known, if that, since nothing says how large the inputs
  /// are.
  std::vector<std::string> Open() const {
    std::vector<std::string> names;
    for (const End& end : ends_) {
      const bool open = end.wants_shape && IsWhollyOpen(end.known);
      if (!end.info->shape && (open || !end.known.shape)) {
        names.push_back(end.info->name);
      }
    }
    return names;
  }

  void Take(const TensorMap& values) {
    for (End& end : ends_) {
      const Tensor* value = Find(values, end.info->name);
      if (value == nullptr) continue;
      if (end.wants_shape && !IsFixed(*end.info)) end.info->shape = ToShape(value->dims());
      if (end.wants_type) end.info->dtype = value->dtype();
    }
  }

 private:
  struct End {
    TensorInfo* info;
    TensorInfo known;  // what the model says
    bool wants_shape;
    bool wants_type;
    bool lacks_names;
  };

  void Add(TensorInfo& info, bool shape, bool given) {
    TensorInfo known = DescribeTensors(model_, std::span(&info.name, 1))[0];
    const bool open = given && !info.shape && HasNamelessDim(known);
    const bool asked = forced_ && (!given || !info.shape);
    ends_.push_back(
        {&info, std::move(known), shape && (open || asked), info.dtype == DType::kUndefined, open});
  }

  const OnnxModel& model_;
  const bool forced_;
  bool sizes_known_ = false;
  std::vector<End> ends_;
};

// The names of dimensions: by rules, else what onnx infers. It is no fault that there is no onnx.
Status InferNames(const ExtractCompletion& completion, std::span<const InputDims> fed,
                  ExtractEnds& ends, Logger& log) {
  if (ends.forced() || !ends.LackNames()) return {};
  VERNIER_TRY(ends.FollowNames(fed));
  if (!ends.LackNames()) return {};
  NoLog silence;
  WorkerPool pool(completion.execution, completion.interrupted, silence);
  ModelPlan plan = completion.model;
  plan.shape_inference = true;
  const Result<OnnxModel> described = LoadChanged(std::move(plan), pool, silence);
  if (described.ok()) {
    ends.TakeShapes(*described);
  } else if (described.status().code() == StatusCode::kCancelled) {
    return described.status();
  } else {
    log.Verbose("the onnx package cannot infer shapes: " + FirstLine(described.status().message()));
  }
  return {};
}

// What neither the model nor a rule says.
Status InferMissing(const ExtractCompletion& completion, ExtractEnds& ends, Logger& log) {
  const std::vector<std::string> missing = ends.Missing();
  if (missing.empty()) return {};
  if (!ends.forced()) {
    log.Warning(
        "Some tensor shapes or dtypes are missing in the model. Note: Tensors with missing "
        "information:\n" +
        Joined(missing) +
        "\nWill run inference to determine shapes. This may cause some dynamic dimensions "
        "to become static.\nTo avoid this, please provide metadata on the command-line. ");
  }
  VERNIER_ASSIGN_OR_RETURN(const RunPlan run, completion.inference());
  const Result<TensorMap> values = RunForTensors(run, missing, completion.interrupted, log);
  if (values.ok()) {
    ends.Take(*values);
    return {};
  }
  if (values.status().code() == StatusCode::kCancelled || ends.forced()) return values.status();
  log.Warning("The model was not run, so these shapes stay unknown: " +
              FirstLine(values.status().message()));
  return {};
}

}  // namespace

Status CompleteExtract(const ExtractCompletion& completion, const OnnxModel& model,
                       ExtractPlan& plan, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(
      const std::vector<InputDims> fed,
      GivenSizes("--model-input-shapes", completion.part.shape_words, model.RequiredInputs()));
  ExtractEnds ends(completion, model, plan);
  const bool derives = !ends.forced() && (ends.LackNames() || !ends.Missing().empty());
  if (ends.forced()) {
    log.Info(
        "Forcing fallback shape inference. This will cause dynamic dimensions to become static.");
  } else if (derives) {
    log.Info(
        "Running shape inference to derive shapes and/or data types for `auto` arguments.\n"
        "To avoid this, you can specify the shapes and data types explicitly.");
  }
  VERNIER_TRY(ends.FollowOperators(fed));
  VERNIER_TRY(InferNames(completion, fed, ends, log));
  if (derives && ends.Missing().empty() && ends.Open().empty()) {
    log.Verbose("Shape inference completed successfully");
  }
  VERNIER_TRY(InferMissing(completion, ends, log));
  if (const std::vector<std::string> open = ends.Open(); !open.empty()) {
    log.Warning(
        "The shapes of these tensors stay open, and the part may not run with others than the"
        " model's: " +
        Joined(open) +
        "\n"
        "To infer them, give the shapes of the model's inputs: --model-input-shapes NAME:SHAPE");
  }
  return {};
}

}  // namespace vernier
