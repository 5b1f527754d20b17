#include "inputs/coerce_feed.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "inputs/cast_tensor.h"
#include "inputs/match_shape.h"
#include "inputs/peer_text.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// Frameworks differ in case and in TensorFlow's output index.
std::string Folded(std::string_view name) {
  if (name.ends_with(":0")) name.remove_suffix(2);
  return ToLower(name);
}

std::string QuotedNames(const TensorMap& feed) {
  std::vector<std::string> names;
  for (const NamedTensor& entry : feed) names.push_back(entry.name);
  return FormatPythonList(names);
}

std::string NameWarning(const std::string& input, const std::string& found) {
  return "Input tensor: " + input + " | Buffer name (" + found +
         ") does not match expected input name (" + input + ").";
}

bool TypeFits(const Tensor& tensor, const TensorInfo& input) {
  return input.dtype == DType::kUndefined || tensor.dtype() == input.dtype;
}

bool ShapeFits(const Tensor& tensor, const TensorInfo& input) {
  return !input.shape || FitsShape(tensor.dims(), *input.shape);
}

// One feed against one runner's inputs.
class Coercion {
 public:
  Coercion(const TensorMap& feed, std::span<const TensorInfo> inputs, const CoerceOptions& options,
           Logger& logger)
      : feed_(feed), inputs_(inputs), options_(options), logger_(logger) {}

  Result<CoercedFeed> Run() {
    const bool strict = options_.strictness == Strictness::kStrict;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Result<Tensor> tensor = strict ? FitStrictly(i) : FitLikePeer(i);
      if (!tensor.ok() && !strict && options_.reload) tensor = Reload(inputs_[i], tensor.status());
      if (!tensor.ok()) return std::move(tensor).status();
      result_.tensors.push_back({inputs_[i].name, *std::move(tensor)});
    }
    if (strict) WarnOfUnused();
    return std::move(result_);
  }

 private:
  bool IsInput(const std::string& name) const {
    return std::any_of(inputs_.begin(), inputs_.end(),
                       [&](const TensorInfo& input) { return input.name == name; });
  }

  Result<const NamedTensor*> FindStrictly(size_t index) const {
    const std::string& name = inputs_[index].name;
    // Most feeds are in the order of the inputs, of which there may be thousands.
    if (index < feed_.size() && feed_[index].name == name) return &feed_[index];
    const std::string folded = Folded(name);
    std::vector<const NamedTensor*> similar;
    for (const NamedTensor& entry : feed_) {
      if (entry.name == name) return &entry;
      if (Folded(entry.name) == folded && !IsInput(entry.name)) similar.push_back(&entry);
    }
    const auto wants_it = [&](const TensorInfo& input) {
      return Folded(input.name) == folded && Find(feed_, input.name) == nullptr;
    };
    const auto takers = std::count_if(inputs_.begin(), inputs_.end(), wants_it);
    if (similar.size() == 1 && takers == 1) return similar[0];
    return Malformed("input '" + name + "': expected a tensor of that name, found " +
                     QuotedNames(feed_) + " in the input data; rename it there" +
                     Advice("to take the most similar name or the position"));
  }

  Result<Tensor> FitStrictly(size_t index) {
    const TensorInfo& input = inputs_[index];
    VERNIER_ASSIGN_OR_RETURN(const NamedTensor* found, FindStrictly(index));
    used_.insert(found);
    if (found->name != input.name) {
      logger_.Warning(NameWarning(input.name, found->name));
      Note(input, "taken from '" + found->name + "'");
    }
    const Tensor& tensor = found->tensor;
    if (TypeFits(tensor, input) && ShapeFits(tensor, input)) return tensor;
    const DType expected = input.dtype == DType::kUndefined ? tensor.dtype() : input.dtype;
    return Malformed("input '" + input.name + "': expected " + std::string(DTypeName(expected)) +
                     " of shape " + FormatShape(input.shape) + ", found " +
                     std::string(DTypeName(tensor.dtype())) + " of shape " +
                     FormatDims(tensor.dims()) + " in the input data; convert it" +
                     Advice("to cast, transpose or reshape it"));
  }

  std::string Advice(const std::string& purpose) const {
    return options_.advise_lenient ? ", or pass --lenient " + purpose : "";
  }

  void WarnOfUnused() {
    std::vector<std::string> unused;
    for (const NamedTensor& entry : feed_) {
      if (!used_.contains(&entry)) unused.push_back(entry.name);
    }
    if (unused.empty()) return;
    const std::string text =
        "The input data holds tensors that are no input of the model: " + FormatPythonList(unused) +
        ". They are ignored.";
    logger_.Once(Severity::kWarning, text);
    result_.notes.push_back(text);
  }

  const NamedTensor* FindLikePeer(size_t index) const {
    const std::string& name = inputs_[index].name;
    const std::string wanted = ToLower(name);
    const NamedTensor* similar = nullptr;
    for (const NamedTensor& entry : feed_) {
      if (entry.name == name) return &entry;
      const std::string candidate = ToLower(entry.name);
      const bool contained = candidate.find(wanted) != std::string::npos ||
                             wanted.find(candidate) != std::string::npos;
      if (contained && similar == nullptr) similar = &entry;
    }
    if (similar != nullptr) return similar;
    return index < feed_.size() ? &feed_[index] : nullptr;
  }

  Result<Tensor> FitLikePeer(size_t index) {
    const TensorInfo& input = inputs_[index];
    const NamedTensor* found = FindLikePeer(index);
    if (found == nullptr) {
      return Malformed("Input tensor: " + input.name +
                       " | Does not exist in the provided input data.");
    }
    if (found->name != input.name) {
      logger_.Warning(NameWarning(input.name, found->name));
      Note(input, "taken from '" + found->name + "'");
    }
    Tensor tensor = found->tensor;
    if (!TypeFits(tensor, input)) {
      VERNIER_ASSIGN_OR_RETURN(tensor, Cast(tensor, input));
    }
    if (!ShapeFits(tensor, input)) {
      VERNIER_ASSIGN_OR_RETURN(tensor, Reshape(tensor, input));
    }
    if (TypeFits(tensor, input) && ShapeFits(tensor, input)) return tensor;
    return Malformed("Input tensor: " + input.name +
                     " | Cannot reuse input data due to mismatch in shape or data type.\n"
                     "Note: Provided input: [dtype=" +
                     PeerDTypeName(tensor.dtype()) + ", shape=" + FormatDims(tensor.dims()) +
                     "], Requested input: [dtype=" + PeerDTypeName(input.dtype) +
                     ", shape=" + ShapeText(input) + "]");
  }

  static std::string ShapeText(const TensorInfo& input) {
    return input.shape ? FormatBoundedShape(*input.shape, ShapeOrigin::kModel) : "None";
  }

  Result<Tensor> Cast(const Tensor& tensor, const TensorInfo& input) {
    const std::string found = PeerDTypeName(tensor.dtype());
    const std::string expected = PeerDTypeName(input.dtype);
    logger_.Warning("Input tensor: " + input.name + " | Buffer dtype (" + found +
                    ") does not match expected input dtype (" + expected +
                    "), attempting to cast.");
    if (!CanCast(tensor.dtype(), input.dtype)) return tensor;
    if (AnyOutOfRange(tensor, input.dtype)) {
      logger_.Warning("Some values in this input are out of range of " + expected +
                      ". Unexpected behavior may ensue!");
    }
    Note(input, "cast from " + found + " to " + expected);
    return CastTensor(tensor, input.dtype);
  }

  Result<Tensor> Reshape(const Tensor& tensor, const TensorInfo& input) {
    const std::string before = FormatDims(tensor.dims());
    logger_.Warning("Input tensor: " + input.name + " | Buffer shape (" + before +
                    ") does not match expected input shape (" + ShapeText(input) +
                    "). Attempting to transpose/reshape.");
    VERNIER_ASSIGN_OR_RETURN(Tensor matched, MatchShape(tensor, *input.shape, logger_));
    Note(input, "transposed or reshaped from " + before + " to " + FormatDims(matched.dims()));
    return matched;
  }

  Result<Tensor> Reload(const TensorInfo& input, const Status& why) {
    logger_.Critical(why.message());
    logger_.Warning("Could not use the provided buffer for input: " + input.name +
                    ". Attempting to reload it from the data loader (this only works if the data "
                    "loader supports random access).\nPlease refer to warnings above for details "
                    "on why the buffer didn't work. ");
    Result<Tensor> tensor = options_.reload(input.name);
    if (tensor.ok()) {
      Note(input, "made anew by the data loader");
      return tensor;
    }
    return Malformed("Input tensor: " + input.name +
                     " | Could not use the provided input and could not reload a replacement from "
                     "the data loader: " +
                     tensor.status().message());
  }

  void Note(const TensorInfo& input, const std::string& change) {
    result_.notes.push_back("input '" + input.name + "': " + change);
  }

  const TensorMap& feed_;
  std::span<const TensorInfo> inputs_;
  const CoerceOptions& options_;
  Logger& logger_;
  std::unordered_set<const NamedTensor*> used_;
  CoercedFeed result_;
};

}  // namespace

Result<CoercedFeed> CoerceFeed(const TensorMap& feed, std::span<const TensorInfo> inputs,
                               const CoerceOptions& options, Logger& logger) {
  return Coercion(feed, inputs, options, logger).Run();
}

}  // namespace vernier
