#include "inputs/coerce_feed.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/tensor_slice.h"
#include "inputs/cast_tensor.h"
#include "inputs/match_shape.h"
#include "inputs/polygraphy_text.h"
#include "util/text/number_text.h"

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

// The order of axes with which a tensor fits, among those that channels first and last differ by;
// empty: it has none.
std::string LayoutThatFits(const Tensor& tensor, const TensorInfo& input) {
  static const std::vector<size_t> kLayouts[] = {{0, 2, 1},      {0, 3, 1, 2}, {0, 2, 3, 1},
                                                 {2, 0, 1},      {1, 2, 0},    {0, 4, 1, 2, 3},
                                                 {0, 2, 3, 4, 1}};
  if (!input.shape || ShapeFits(tensor, input)) return "";
  for (const std::vector<size_t>& layout : kLayouts) {
    if (layout.size() != tensor.dims().size()) continue;
    Dims dims;
    for (const size_t axis : layout) dims.push_back(tensor.dims()[axis]);
    if (FitsShape(dims, *input.shape)) return FormatAxes(layout);
  }
  return "";
}

// What has no partner of its name on either side.
struct InputsAlone {
  std::vector<const TensorInfo*> inputs;
  std::vector<const NamedTensor*> tensors;

  static bool Fits(const Tensor& tensor, const TensorInfo& input) {
    return TypeFits(tensor, input) && ShapeFits(tensor, input);
  }

  // Null where none fits, or several do.
  const NamedTensor* OnlyFitting(const TensorInfo& input) const {
    const NamedTensor* only = nullptr;
    for (const NamedTensor* tensor : tensors) {
      if (!Fits(tensor->tensor, input)) continue;
      if (only != nullptr) return nullptr;
      only = tensor;
    }
    return only;
  }

  bool FitsOneInput(const NamedTensor& tensor) const {
    return std::count_if(inputs.begin(), inputs.end(),
                         [&](const TensorInfo* input) { return Fits(tensor.tensor, *input); }) == 1;
  }

  // Both sides, and words that would map the one to the other.
  std::string WordsToType(const std::string& label) const {
    std::string text = "\nNote: these inputs of " + label + " have no counterpart in the feed:";
    for (const TensorInfo* input : inputs) text += "\n    " + Described(*input);
    text += tensors.empty() ? "\nThe feed has nothing else."
                            : "\n"
                              "The feed also has:";
    for (const NamedTensor* tensor : tensors) text += "\n    " + Described(*tensor);
    if (tensors.empty()) return text;
    text +=
        "\n"
        "Pair them, for example: --map-inputs";
    std::unordered_set<const NamedTensor*> used;
    for (const TensorInfo* input : inputs) {
      text += " " + label + ":" + input->name + "=" + SourceFor(*input, used);
    }
    return text;
  }

 private:
  static std::string Described(const TensorInfo& input) {
    const std::string type =
        input.dtype == DType::kUndefined ? "any type" : std::string(DTypeName(input.dtype));
    return input.name + "  " + type + (input.shape ? " " + FormatShape(input.shape) : "");
  }
  static std::string Described(const NamedTensor& tensor) {
    return tensor.name + "  " + std::string(DTypeName(tensor.tensor.dtype())) + " " +
           FormatDims(tensor.tensor.dims());
  }

  // One that fits, else one that would with its axes in another order, else a blank to fill in.
  std::string SourceFor(const TensorInfo& input,
                        std::unordered_set<const NamedTensor*>& used) const {
    for (const NamedTensor* tensor : tensors) {
      if (Fits(tensor->tensor, input) && used.insert(tensor).second) return tensor->name;
    }
    for (const NamedTensor* tensor : tensors) {
      if (!TypeFits(tensor->tensor, input)) continue;
      const std::string order = LayoutThatFits(tensor->tensor, input);
      if (!order.empty() && used.insert(tensor).second) return tensor->name + "@" + order;
    }
    return "NAME";
  }
};

// One feed against one runner's inputs.
class Coercion {
 public:
  Coercion(const TensorMap& feed, std::span<const TensorInfo> inputs, const CoerceOptions& options,
           Logger& logger)
      : feed_(feed), inputs_(inputs), options_(options), logger_(logger) {}

  Result<CoercedFeed> Run() {
    const bool strict = options_.strictness == Strictness::kStrict;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Result<Tensor> tensor = strict ? FitStrictly(i) : FitLikePolygraphy(i);
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

  // By its name; null where no tensor is the only one of that name.
  const NamedTensor* FindByName(size_t index) const {
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
    return similar.size() == 1 && takers == 1 ? similar[0] : nullptr;
  }

  const InputsAlone& Alone() {
    if (alone_) return *alone_;
    alone_.emplace();
    std::unordered_set<const NamedTensor*> named;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const NamedTensor* const found = FindByName(i);
      if (found == nullptr) alone_->inputs.push_back(&inputs_[i]);
      named.insert(found);
    }
    for (const NamedTensor& entry : feed_) {
      if (!named.contains(&entry)) alone_->tensors.push_back(&entry);
    }
    return *alone_;
  }

  // The only tensor without an input that fits, where it fits no other input that has none.
  const NamedTensor* FindByShape(const TensorInfo& input) {
    const NamedTensor* const only = Alone().OnlyFitting(input);
    const bool made =
        only != nullptr &&
        std::any_of(options_.made_for.begin(), options_.made_for.end(),
                    [&](const TensorInfo& other) { return other.name == only->name; });
    return (made || IsLast()) && only != nullptr && Alone().FitsOneInput(*only) ? only : nullptr;
  }

  // All others have found each other by their names.
  bool IsLast() {
    return inputs_.size() > 1 && Alone().inputs.size() == 1 && Alone().tensors.size() == 1;
  }

  Result<const NamedTensor*> FindStrictly(size_t index) {
    const TensorInfo& input = inputs_[index];
    if (const NamedTensor* const named = FindByName(index)) {
      if (named->name != input.name) {
        logger_.Warning(NameWarning(input.name, named->name));
        Note(input, "taken from '" + named->name + "'");
      }
      return named;
    }
    if (const NamedTensor* const fitting = FindByShape(input)) {
      const std::string how = "paired with '" + fitting->name + "' by type and shape";
      logger_.Once(Severity::kInfo, "Input tensor: " + input.name + " | It is " + how +
                                        ", as no tensor has its name");
      Note(input, how);
      return fitting;
    }
    // A tensor of another input cannot be meant.
    const bool lacking = Alone().tensors.empty();
    return Malformed(
        "input '" + input.name + "': expected a tensor of that name, found " + QuotedNames(feed_) +
        " in the input data; " +
        (lacking ? "add it there"
                 : "rename it there" + Advice("to take the most similar name or the position")) +
        (options_.label.empty() ? "" : Alone().WordsToType(options_.label)));
  }

  Result<Tensor> FitStrictly(size_t index) {
    const TensorInfo& input = inputs_[index];
    VERNIER_ASSIGN_OR_RETURN(const NamedTensor* found, FindStrictly(index));
    used_.insert(found);
    const Tensor& tensor = found->tensor;
    if (TypeFits(tensor, input) && ShapeFits(tensor, input)) return tensor;
    const DType expected = input.dtype == DType::kUndefined ? tensor.dtype() : input.dtype;
    const std::string order = TypeFits(tensor, input) ? LayoutThatFits(tensor, input) : "";
    const std::string permute = options_.label.empty() || order.empty()
                                    ? ""
                                    : ", permute its axes with --map-inputs " + options_.label +
                                          ":" + input.name + "=" + found->name + "@" + order;
    const std::string origin = options_.origin ? options_.origin(found->name) : std::string();
    return Malformed("input '" + input.name + "': expected " + std::string(DTypeName(expected)) +
                     " of shape " + FormatShape(input.shape) + ", found " +
                     std::string(DTypeName(tensor.dtype())) + " of shape " +
                     FormatDims(tensor.dims()) +
                     (origin.empty() ? " in the input data; convert it" + permute +
                                           Advice("to cast, transpose or reshape it")
                                     : ", " + origin + permute));
  }

  std::string Advice(const std::string& purpose) const {
    return options_.advise_lenient ? ", or pass --lenient " + purpose : "";
  }

  // Two models may call one tensor differently.
  bool IsUsedByAnotherName(const NamedTensor& entry) const {
    const std::byte* bytes = entry.tensor.bytes().data();
    return bytes != nullptr && std::ranges::any_of(used_, [&](const NamedTensor* used) {
             return used->tensor.bytes().data() == bytes;
           });
  }

  void WarnOfUnused() {
    std::vector<std::string> unused;
    for (const NamedTensor& entry : feed_) {
      if (!used_.contains(&entry) && !IsUsedByAnotherName(entry)) unused.push_back(entry.name);
    }
    if (unused.empty()) return;
    const std::string text = "The input data holds tensors that are not inputs of the model: " +
                             FormatPythonList(unused) + ". They are ignored.";
    logger_.Once(Severity::kWarning, text);
    result_.notes.push_back(text);
  }

  const NamedTensor* FindLikePolygraphy(size_t index) const {
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

  Result<Tensor> FitLikePolygraphy(size_t index) {
    const TensorInfo& input = inputs_[index];
    const NamedTensor* found = FindLikePolygraphy(index);
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
                     PolygraphyDTypeName(tensor.dtype()) + ", shape=" + FormatDims(tensor.dims()) +
                     "], Requested input: [dtype=" + PolygraphyDTypeName(input.dtype) +
                     ", shape=" + ShapeText(input) + "]");
  }

  static std::string ShapeText(const TensorInfo& input) {
    return input.shape ? FormatBoundedShape(*input.shape, ShapeOrigin::kModel) : "None";
  }

  Result<Tensor> Cast(const Tensor& tensor, const TensorInfo& input) {
    const std::string found = PolygraphyDTypeName(tensor.dtype());
    const std::string expected = PolygraphyDTypeName(input.dtype);
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
  std::optional<InputsAlone> alone_;
  CoercedFeed result_;
};

}  // namespace

Result<CoercedFeed> CoerceFeed(const TensorMap& feed, std::span<const TensorInfo> inputs,
                               const CoerceOptions& options, Logger& logger) {
  return Coercion(feed, inputs, options, logger).Run();
}

}  // namespace vernier
