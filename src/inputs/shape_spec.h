// `--input-shapes`: the shapes that the user gives for inputs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/strictness.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// One `NAME:[d0,d1,...]` or `NAME:[d0,d1,...]:DTYPE`.
struct ShapeSpec {
  std::string name;  ///< an input, or an fnmatch pattern
  /// A negative or symbolic dimension is dynamic. Absent for `NAME:auto`.
  std::optional<std::vector<Dim>> shape;
  /// Where one is given: for models whose file does not say it.
  std::optional<DType> dtype = std::nullopt;
};

/// Reads the words in order; repeated names stay. A word that ends in a bracket, a colon and the
/// name of an element type has that type. Splits the rest at its last colon; empty elements of the
/// list are dropped, so `x:[]` is a scalar. kInvalidArgument for a value that is not a list in
/// brackets and for elements that are neither a whole number nor a name; kPolygraphy takes such a
/// word letter by letter, and such an element as a dynamic dimension, but still refuses `x:5`.
/// `flag` is whose words these are, for messages.
Result<std::vector<ShapeSpec>> ParseShapeSpecs(std::span<const std::string> words,
                                               Strictness strictness,
                                               std::string_view flag = "--input-shapes");

/// Does a name or pattern of the command line mean the input? Equality comes first: a name such as
/// "x[0]" is a pattern that does not match itself.
bool MeansInput(const std::string& key, const std::string& input);

/// The first of the shapes for an input; nullptr if there is none. Of several names and patterns
/// that mean it the last counts; repeated names keep the place of their first occurrence, as keys
/// of a Python dictionary do.
const ShapeSpec* FirstShapeFor(std::span<const ShapeSpec> specs, const std::string& input);

/// The last shape of every name, in the place of its first: what Polygraphy makes of repetitions.
std::vector<ShapeSpec> KeepLastShapes(std::span<const ShapeSpec> specs);

/// What Polygraphy logs before it generates inputs: "{x [shape=(1, 3)],\n y [shape=()]}".
std::string FormatShapeSpecs(std::span<const ShapeSpec> specs);

}  // namespace vernier
