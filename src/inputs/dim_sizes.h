// Sizes by the names of dimensions: those of one name have one size, in whatever input they are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inputs/shape_spec.h"
#include "vernier/dim_size.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Reads the words of --dim, NAME=SIZE, in order. NAME is that of a dimension, or INPUT[AXIS] for
/// one without a name. kInvalidArgument for a size that is no whole number >= 0, and for one name
/// with two sizes.
Result<std::vector<DimSize>> ParseDimSizes(std::span<const std::string> words);

/// What DimSize::dimension is for a free dimension: its name, "x[1]" where it has none. "?" is no
/// name: exporters write it for a size that they do not know.
std::string DimensionKey(const TensorInfo& input, size_t axis);

/// The size that a list has for a dimension, by its name or its place; nullopt if it has none.
std::optional<int64_t> FindDimSize(std::span<const DimSize> sizes, const TensorInfo& input,
                                   size_t axis);

/// The same sizes with the names of dimensions for places that have one: `x[1]` is `n` where the
/// model calls it so, and then the size of every `n`. kMalformed where a place and a name, or two
/// places of one name, have two sizes.
Result<std::vector<DimSize>> SizesByName(std::span<const DimSize> sizes,
                                         std::span<const TensorInfo> inputs);

/// kMalformed where a size is of no dimension that these inputs leave free.
Status CheckDimNames(std::span<const DimSize> given, std::span<const TensorInfo> inputs);

/// What is known about sizes apart from the shapes that were given for inputs.
struct KnownSizes {
  std::span<const DimSize> given = {};  ///< --dim
  std::span<const DimSize> found = {};  ///< for what nothing else says
  /// Dimensions of inputs without a shape have the sizes that a shape of another input gives their
  /// name.
  bool equal_names = true;
};

struct CompletedShapes {
  std::vector<ShapeSpec> shapes;
  std::vector<std::string> notes;     ///< which input has which shape, and why
  std::vector<std::string> warnings;  ///< a name with two sizes
};

/// Adds shapes for inputs that have none in `shapes`, where a size of theirs is known; sizes that
/// are not become 1. Where inputs have several shapes in turn, the others follow. The shapes that
/// were given stay as they are. kMalformed where `known.given` names a dimension that no input
/// leaves free, has two sizes for one, or another size than a shape.
Result<CompletedShapes> CompleteShapes(std::vector<ShapeSpec> shapes,
                                       std::span<const TensorInfo> inputs, const KnownSizes& known);

/// Free dimensions of these inputs whose sizes nothing says: keys, each once, in order. `leading`
/// has those of first dimensions.
struct OpenDimensions {
  std::vector<std::string> keys;
  std::vector<std::string> leading;
};
OpenDimensions FindOpenDimensions(std::span<const ShapeSpec> shapes,
                                  std::span<const TensorInfo> inputs, const KnownSizes& known);

}  // namespace vernier
