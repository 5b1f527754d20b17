// The default data loader: seeded random inputs, Polygraphy's numbers bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inputs/draw_tensor.h"
#include "inputs/feed_drawer.h"
#include "inputs/feed_shape.h"
#include "inputs/numpy_random.h"
#include "inputs/sample_values.h"
#include "inputs/shape_spec.h"
#include "inputs/strictness.h"
#include "inputs/value_ranges.h"
#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct RandomFeedOptions {
  int64_t seed = 1;
  int64_t iterations = 1;
  std::vector<NamedRange> ranges = {};
  /// Names may be fnmatch patterns; of several that match an input the last wins. Several shapes of
  /// one name are used in turn, one per iteration; kPolygraphy uses the last alone, as Polygraphy
  /// does.
  std::vector<ShapeSpec> shapes = {};
  /// kStrict: what cannot be applied (a name that no input has, a shape that does not fit) is an
  /// error. kPolygraphy: Polygraphy's warning.
  Strictness strictness = Strictness::kStrict;
  /// Inputs that are drawn like a sample, whatever their range.
  std::vector<NamedSample> samples = {};
  /// Draws instead of NumPy's generator; must outlive the feeds.
  FeedDrawer* drawer = nullptr;
};

/// Feeds for a model's inputs. Feed i of seed s is feed 0 of seed s + i; inputs are drawn in the
/// model's order from one generator. Making a feed changes nothing, so that feeds may be made in
/// any order and by several threads if their loggers allow it.
class RandomFeeds {
 public:
  /// Resolves every shape. kMalformed for what cannot be applied (see `strictness`) and for inputs
  /// of unknown rank.
  static Result<RandomFeeds> Create(RandomFeedOptions options, std::vector<TensorInfo> inputs);

  /// Number of feeds; negative iterations count as none.
  int64_t count() const { return options_.iterations > 0 ? options_.iterations : 0; }

  /// Feed number `iteration`, with Polygraphy's log lines. A large one lies in memory that is ready
  /// to be sent to other processes. kInvalidArgument when seed + iteration is outside 0..2^32-1;
  /// kMalformed for ranges that the type cannot hold (of floats unless kPolygraphy), for strings
  /// (see DrawTensor) and for more than the memory that is free; kInternal when memory runs out.
  /// Errors of the drawer are passed on.
  Result<TensorMap> Make(int64_t iteration, Logger& logger) const;

 private:
  struct Input {
    TensorInfo info;
    std::vector<FeedShape> shapes;  ///< used in turn
  };

  RandomFeeds() = default;
  Status ResolveInputs(std::vector<TensorInfo> inputs);
  Status CheckNames();
  static const FeedShape& ShapeOf(const Input& input, int64_t iteration);
  std::vector<std::optional<uint64_t>> SizesOf(int64_t iteration) const;
  Result<Tensor> MakeInput(const Input& input, int64_t iteration, NumpyRandom& random,
                           Logger& logger, const TensorPlace* place) const;
  Result<TensorMap> MakeElsewhere(int64_t seed, int64_t iteration, Logger& logger) const;
  Result<ValueRange> Announce(const Input& input, Logger& logger) const;

  RandomFeedOptions options_;
  std::vector<Input> inputs_;
  std::vector<FeedNote> notes_before_;  ///< of every feed: shapes that no input takes
  std::vector<FeedNote> notes_after_;   ///< of every feed: ranges that no input takes
};

}  // namespace vernier
