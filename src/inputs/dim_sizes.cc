#include "inputs/dim_sizes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "util/text/close_matches.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Sets of shapes that come in turn, where inputs have unlike numbers of them.
constexpr size_t kMostTurns = 10'000;

bool Has(std::span<const std::string> list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

const DimSize* FindNamed(std::span<const DimSize> sizes, std::string_view name) {
  const auto found = std::find_if(sizes.begin(), sizes.end(),
                                  [&](const DimSize& size) { return size.dimension == name; });
  return found == sizes.end() ? nullptr : &*found;
}

std::string PlaceOf(const TensorInfo& input, size_t axis) {
  return input.name + "[" + std::to_string(axis) + "]";
}

// "" for one without a name. Paddle writes "?" for what it does not know: two of them are two.
std::string NameOf(const Dim& dim) { return dim.symbol == "?" ? std::string() : dim.symbol; }

// Calls `visit` with the free dimensions of an input whose rank is known.
template <typename Visit>
void ForEachFree(const TensorInfo& input, const Visit& visit) {
  if (!input.shape) return;
  for (size_t axis = 0; axis < input.shape->size(); ++axis) {
    if ((*input.shape)[axis].dynamic()) visit(axis, (*input.shape)[axis]);
  }
}

// The name that the model gives a place, "" for what is no place, or has none, or is a name itself.
std::string NameAtPlace(std::span<const TensorInfo> inputs, const std::string& place) {
  std::string name;
  bool is_name = false;
  for (const TensorInfo& input : inputs) {
    ForEachFree(input, [&](size_t axis, const Dim& dim) {
      is_name |= dim.symbol == place;
      if (PlaceOf(input, axis) == place) name = NameOf(dim);
    });
  }
  return is_name ? "" : name;
}

// All shapes of the name that means the input, in turn.
std::vector<const ShapeSpec*> ShapesOf(std::span<const ShapeSpec> shapes, const TensorInfo& input) {
  std::vector<const ShapeSpec*> own;
  const ShapeSpec* const first = FirstShapeFor(shapes, input.name);
  if (first == nullptr) return own;
  for (const ShapeSpec& spec : shapes) {
    if (spec.name == first->name) own.push_back(&spec);
  }
  return own;
}

// Where a shape gives values of a shape tensor, or fits nothing, it gives no sizes.
bool GivesSizes(const ShapeSpec& spec, const TensorInfo& input) {
  return spec.shape && input.shape && spec.shape->size() == input.shape->size();
}

/// The sizes of names in one turn, and whose shape gives them.
struct TurnSizes {
  std::map<std::string, std::pair<int64_t, std::string>, std::less<>> sizes;
};

class Completion {
 public:
  Completion(std::vector<ShapeSpec> shapes, std::span<const TensorInfo> inputs,
             const KnownSizes& known)
      : shapes_(std::move(shapes)), inputs_(inputs), known_(known) {}

  Result<CompletedShapes> Run() {
    VERNIER_TRY(ReadSizes());
    VERNIER_TRY(CheckDimNames(given_, inputs_));
    CountTurns();
    for (size_t turn = 0; turn < turns_; ++turn) {
      VERNIER_ASSIGN_OR_RETURN(TurnSizes sizes, ReadTurn(turn));
      turn_sizes_.push_back(std::move(sizes));
    }
    std::vector<ShapeSpec> added;
    for (const TensorInfo& input : inputs_) Complete(input, added);
    // Of several that mean an input the last counts: a name may be another's pattern.
    shapes_.insert(shapes_.begin(), added.begin(), added.end());
    completed_.shapes = std::move(shapes_);
    return std::move(completed_);
  }

  OpenDimensions FindOpen() {
    turns_ = 1;
    if (ReadSizes().ok()) {
      Result<TurnSizes> sizes = ReadTurn(0);
      if (sizes.ok()) turn_sizes_.push_back(*std::move(sizes));
    }
    OpenDimensions open;
    for (const TensorInfo& input : inputs_) {
      if (turn_sizes_.empty() || FirstShapeFor(shapes_, input.name) != nullptr) continue;
      ForEachFree(input, [&](size_t axis, const Dim&) {
        if (Known(input, axis, 0)) return;
        const std::string key = DimensionKey(input, axis);
        if (!Has(open.keys, key)) open.keys.push_back(key);
        if (axis == 0 && !Has(open.leading, key)) open.leading.push_back(key);
      });
    }
    return open;
  }

 private:
  Status ReadSizes() {
    VERNIER_ASSIGN_OR_RETURN(given_, SizesByName(known_.given, inputs_));
    // What was found may hold what was given too, which was checked where feeds are made.
    Result<std::vector<DimSize>> found = SizesByName(known_.found, inputs_);
    found_ = found.ok() ? *std::move(found)
                        : std::vector<DimSize>(known_.found.begin(), known_.found.end());
    return {};
  }

  void CountTurns() {
    for (const TensorInfo& input : inputs_) {
      const size_t own = std::max<size_t>(1, ShapesOf(shapes_, input).size());
      turns_ = std::min(std::lcm(turns_, own), kMostTurns);
    }
  }

  Result<TurnSizes> ReadTurn(size_t turn) {
    TurnSizes found;
    for (const TensorInfo& input : inputs_) {
      const std::vector<const ShapeSpec*> own = ShapesOf(shapes_, input);
      if (own.empty()) continue;
      const ShapeSpec& spec = *own[turn % own.size()];
      if (GivesSizes(spec, input)) VERNIER_TRY(ReadShape(spec, input, found));
    }
    return found;
  }

  Status ReadShape(const ShapeSpec& spec, const TensorInfo& input, TurnSizes& found) {
    Status status;
    ForEachFree(input, [&](size_t axis, const Dim& dim) {
      const Dim& size = (*spec.shape)[axis];
      if (size.dynamic() || !status.ok()) return;
      const std::optional<int64_t> given = FindDimSize(given_, input, axis);
      if (given && *given != size.value) {
        status = Malformed("--dim: '" + DimensionKey(input, axis) + "' is " +
                           std::to_string(*given) + ", and " + std::to_string(size.value) +
                           " in the shape given for input '" + input.name + "'; give one of them");
      }
      const std::string name = NameOf(dim);
      if (name.empty() || !known_.equal_names) return;
      const auto& [first, whose] =
          found.sizes.try_emplace(name, size.value, input.name).first->second;
      if (first == size.value) return;
      Add(completed_.warnings, "The shapes given have two sizes for dimension '" + name +
                                   "': " + std::to_string(first) + " in '" + whose + "' and " +
                                   std::to_string(size.value) + " in '" + input.name + "'");
    });
    return status;
  }

  static void Add(std::vector<std::string>& list, std::string text) {
    if (!Has(list, text)) list.push_back(std::move(text));
  }

  std::optional<int64_t> Known(const TensorInfo& input, size_t axis, size_t turn) const {
    if (const auto given = FindDimSize(given_, input, axis)) return given;
    const auto& sizes = turn_sizes_[turn].sizes;
    const auto shared = sizes.find((*input.shape)[axis].symbol);
    return shared == sizes.end() ? std::nullopt : std::optional(shared->second.first);
  }

  // Why an input has the sizes that it has: "'batch' = 2 as in 'ids', 'n' = 8".
  std::string Reason(const TensorInfo& input) const {
    std::string text;
    ForEachFree(input, [&](size_t axis, const Dim& dim) {
      const auto known = Known(input, axis, 0);
      const auto size = known ? known : FindDimSize(found_, input, axis);
      text += (text.empty() ? "'" : ", '") + DimensionKey(input, axis) +
              "' = " + std::to_string(size.value_or(1));
      const auto shared = turn_sizes_[0].sizes.find(dim.symbol);
      if (FindDimSize(given_, input, axis)) {
        text += " of --dim";
      } else if (known && shared != turn_sizes_[0].sizes.end()) {
        text += " as in '" + shared->second.second + "'";
      } else if (size) {
        text += " as found";
      }
    });
    return text;
  }

  void Complete(const TensorInfo& input, std::vector<ShapeSpec>& added) {
    if (!input.shape || FirstShapeFor(shapes_, input.name) != nullptr) return;
    std::vector<ShapeSpec> turns;
    bool any = false;
    for (size_t turn = 0; turn < turns_; ++turn) {
      ShapeSpec spec{input.name, input.shape};
      ForEachFree(input, [&](size_t axis, const Dim&) {
        std::optional<int64_t> size = Known(input, axis, turn);
        if (!size) size = FindDimSize(found_, input, axis);
        any |= size.has_value();
        (*spec.shape)[axis] = {size.value_or(1), {}};
      });
      turns.push_back(std::move(spec));
    }
    if (!any) return;
    const bool same = std::ranges::all_of(
        turns, [&](const ShapeSpec& spec) { return spec.shape == turns.front().shape; });
    if (same) turns.resize(1);
    completed_.notes.push_back("Input tensor: " + input.name + " | Has the shape " +
                               FormatShape(turns.front().shape) +
                               (same ? "" : " in the first iteration") + ": " + Reason(input));
    added.insert(added.end(), turns.begin(), turns.end());
  }

  std::vector<ShapeSpec> shapes_;
  std::span<const TensorInfo> inputs_;
  const KnownSizes& known_;
  std::vector<DimSize> given_;  ///< known_.given by name
  std::vector<DimSize> found_;
  size_t turns_ = 1;
  std::vector<TurnSizes> turn_sizes_;
  CompletedShapes completed_;
};

}  // namespace

Result<std::vector<DimSize>> ParseDimSizes(std::span<const std::string> words) {
  std::vector<DimSize> sizes;
  for (const std::string& word : words) {
    const size_t equals = word.rfind('=');
    const std::optional<int64_t> size =
        equals == std::string::npos ? std::nullopt : ParseInt(word.substr(equals + 1));
    if (equals == 0 || !size || *size < 0) {
      return InvalidArgument("--dim: expected NAME=SIZE with a whole number >= 0, got '" + word +
                             "'");
    }
    const std::string name = word.substr(0, equals);
    const DimSize* const known = FindNamed(sizes, name);
    if (known != nullptr && known->size != *size) {
      return InvalidArgument("--dim: '" + name + "' has two sizes, " + std::to_string(known->size) +
                             " and " + std::to_string(*size));
    }
    if (known == nullptr) sizes.push_back({name, *size});
  }
  return sizes;
}

std::string DimensionKey(const TensorInfo& input, size_t axis) {
  const std::string name = NameOf((*input.shape)[axis]);
  return name.empty() ? PlaceOf(input, axis) : name;
}

std::optional<int64_t> FindDimSize(std::span<const DimSize> sizes, const TensorInfo& input,
                                   size_t axis) {
  if (sizes.empty()) return std::nullopt;
  const DimSize* found = FindNamed(sizes, PlaceOf(input, axis));
  const std::string name = NameOf((*input.shape)[axis]);
  if (found == nullptr && !name.empty()) found = FindNamed(sizes, name);
  return found == nullptr ? std::nullopt : std::optional(found->size);
}

Result<std::vector<DimSize>> SizesByName(std::span<const DimSize> sizes,
                                         std::span<const TensorInfo> inputs) {
  std::vector<DimSize> named;
  std::map<std::string, std::string> words;  // the dimension as it was given
  for (const DimSize& size : sizes) {
    const std::string name = NameAtPlace(inputs, size.dimension);
    const std::string& key = name.empty() ? size.dimension : name;
    const DimSize* const known = FindNamed(named, key);
    if (known == nullptr) {
      named.push_back({key, size.size});
      words[key] = size.dimension;
    } else if (known->size != size.size) {
      return Malformed("--dim: '" + key + "' has two sizes, " + std::to_string(known->size) +
                       " by '" + words[key] + "' and " + std::to_string(size.size) + " by '" +
                       size.dimension + "'; give one of them");
    }
  }
  return named;
}

Status CheckDimNames(std::span<const DimSize> given, std::span<const TensorInfo> inputs) {
  std::vector<std::string> names;
  for (const TensorInfo& input : inputs) {
    ForEachFree(input, [&](size_t axis, const Dim&) {
      const std::string key = DimensionKey(input, axis);
      if (!Has(names, key)) names.push_back(key);
    });
  }
  for (const DimSize& size : given) {
    const bool any = std::ranges::any_of(inputs, [&](const TensorInfo& input) {
      bool means = false;
      ForEachFree(input, [&](size_t axis, const Dim&) {
        means |= FindDimSize(std::span(&size, 1), input, axis).has_value();
      });
      return means;
    });
    if (any) continue;
    const std::vector<std::string_view> known(names.begin(), names.end());
    return Malformed("--dim: the model leaves no dimension '" + size.dimension + "' free; " +
                     (names.empty() ? "all sizes of its inputs are fixed"
                                    : "it leaves free " + FormatPythonList(names)) +
                     DidYouMean(size.dimension, known));
  }
  return {};
}

Result<CompletedShapes> CompleteShapes(std::vector<ShapeSpec> shapes,
                                       std::span<const TensorInfo> inputs,
                                       const KnownSizes& known) {
  const bool nothing =
      known.given.empty() && known.found.empty() && (shapes.empty() || !known.equal_names);
  if (nothing) return CompletedShapes{std::move(shapes), {}, {}};
  return Completion(std::move(shapes), inputs, known).Run();
}

OpenDimensions FindOpenDimensions(std::span<const ShapeSpec> shapes,
                                  std::span<const TensorInfo> inputs, const KnownSizes& known) {
  return Completion({shapes.begin(), shapes.end()}, inputs, known).FindOpen();
}

}  // namespace vernier
