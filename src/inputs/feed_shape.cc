#include "inputs/feed_shape.h"

#include <algorithm>

#include "inputs/polygraphy_text.h"

namespace vernier {
namespace {

bool IsDynamic(const std::vector<Dim>& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Dim& dim) { return dim.dynamic(); });
}

bool Overrides(const std::vector<Dim>& user, const std::vector<Dim>& model) {
  if (user.size() != model.size()) return false;
  for (size_t i = 0; i < user.size(); ++i) {
    if (!model[i].dynamic() && model[i].value != user[i].value) return false;
  }
  return true;
}

// Polygraphy's guess; it cannot distinguish a tensor that holds a shape from another list of
// integers.
bool HoldsShape(const TensorInfo& input, const ShapeSpec& user) {
  const std::vector<Dim>& model = *input.shape;
  return user.name == input.name && IsIntegral(input.dtype) && model.size() == 1 &&
         !model[0].dynamic() && static_cast<size_t>(model[0].value) == user.shape->size();
}

std::vector<int64_t> Sizes(const std::vector<Dim>& shape) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.dynamic() ? 1 : dim.value);
  return sizes;
}

FeedShape TakeValues(const TensorInfo& input, const std::vector<Dim>& user) {
  FeedShape feed;
  feed.values = Sizes(user);
  feed.dims = {static_cast<int64_t>(user.size())};
  feed.notes.push_back(
      {.severity = Severity::kInfo,
       .text = "Assuming " + input.name +
               " is a shape tensor. Setting input values to: " + FormatNumpyInts(*feed.values) +
               ". If these values are not correct, please set it correctly in 'input_metadata' or "
               "by providing --input-shapes",
       .once = true});
  return feed;
}

FeedShape TakeModelShape(const TensorInfo& input) {
  FeedShape feed;
  feed.dims = Sizes(*input.shape);
  if (IsDynamic(*input.shape)) {
    feed.notes.push_back(
        {.text = "Input tensor: " + input.name +
                 " [shape=" + FormatBoundedShape(*input.shape, ShapeOrigin::kModel) +
                 "] | Will generate data of shape: " + FormatPythonInts(feed.dims) +
                 ".\nIf this is incorrect, please provide a custom data loader.",
         .once = true});
  }
  return feed;
}

FeedNote PolygraphyWarning(const TensorInfo& input, const std::vector<Dim>& user) {
  const std::string given = FormatBoundedShape(user, ShapeOrigin::kUser);
  const std::string where = "Input tensor: " + input.name +
                            " [shape=" + FormatBoundedShape(*input.shape, ShapeOrigin::kModel) +
                            "] | ";
  if (IsDynamic(user)) {
    return {.text = where + "Provided input shape: " + given +
                    " is dynamic.\nDynamic shapes cannot be used to generate inference data. Will "
                    "use default shape instead.\nTo avoid this, please provide a fixed shape to "
                    "the data loader. "};
  }
  return {.text = where + "Cannot use provided custom shape: " + given +
                  " to override tensor shape. Will use default shape instead.",
          .once = true};
}

}  // namespace

Result<FeedShape> ResolveFeedShape(const TensorInfo& input, const ShapeSpec* user,
                                   Strictness strictness, std::string_view flag) {
  const bool given = user != nullptr && user->shape;
  const bool fixed = given && !IsDynamic(*user->shape);
  if (!input.shape) {
    if (fixed) return FeedShape{.dims = Sizes(*user->shape), .values = {}, .notes = {}};
    return Malformed("input '" + input.name + "' has no shape in the model; give one with " +
                     std::string(flag) + " " + input.name + ":[d0,d1,...]");
  }
  if (!given) return TakeModelShape(input);
  if (fixed && HoldsShape(input, *user)) return TakeValues(input, *user->shape);
  if (fixed && Overrides(*user->shape, *input.shape)) {
    return FeedShape{.dims = Sizes(*user->shape), .values = {}, .notes = {}};
  }
  if (strictness == Strictness::kStrict) {
    return Malformed(std::string(flag) + ": input '" + input.name + "' has the shape " +
                     FormatShape(input.shape) + ", which " + FormatShape(user->shape) +
                     (fixed ? " does not fit" : " leaves open") +
                     "; expected a fixed shape of that rank and with those fixed dimensions");
  }
  FeedShape feed = TakeModelShape(input);
  feed.notes.insert(feed.notes.begin(), PolygraphyWarning(input, *user->shape));
  return feed;
}

}  // namespace vernier
