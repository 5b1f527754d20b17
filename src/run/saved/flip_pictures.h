// Pictures of the images whose decisions flipped worst, for the page and the record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "images/preprocess.h"
#include "images/raster.h"
#include "record/shards/shard_decisions.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class FlipPictures {
 public:
  FlipPictures() = default;
  explicit FlipPictures(const RunPlan& plan);

  /// A page or a record is to show them, and iterations are compared while their inputs are there.
  bool wanted() const { return wanted_; }

  /// The inputs of a feed that hold images; they share the bytes.
  TensorMap ImagesOf(const TensorMap& feed) const;

  /// Draws those of the iteration's images that are among the `worst` flips so far, and lets go of
  /// those that no longer are. A sample is shown where it is one of as many images, or the images
  /// of its iteration are one. Memory: 77 KB a flip and input.
  void Keep(int64_t iteration, const TensorMap& feed, const std::vector<const WorstFlip*>& worst);

  /// What a shard keeps of an iteration: its pictures, encoded. kInternal when memory runs out.
  Result<std::vector<ShardPicture>> DrawnOf(int64_t iteration) const;
  /// The same as Keep() with what a shard has drawn of the iteration.
  void Take(int64_t iteration, std::vector<ShardPicture> pictures,
            const std::vector<const WorstFlip*>& worst);

  /// Adds them to `run.flip_pictures`, at most --worst-flips, the worst flip of each decision
  /// first, and their places to the flips. kInternal when memory runs out.
  Status AddTo(RunRecord& run) const;

 private:
  using Place = std::tuple<int64_t, std::string, int64_t>;  // iteration, input, image

  struct Drawn {
    int64_t images;  // of that input in that iteration
    RasterImage raster;
    std::string how;
    std::string png = {};  ///< encoded by a shard: there is no raster then
  };

  static std::optional<int64_t> ImageOf(const WorstFlip& flip, int64_t images);
  void Draw(const WorstFlip& flip, const TensorMap& feed);
  void LetGo(const std::vector<const WorstFlip*>& worst);
  Status AddFlip(WorstFlip& flip, std::map<Place, int64_t>& added, RunRecord& run) const;

  bool wanted_ = false;
  int64_t most_ = 0;
  std::optional<PreprocessWords> words_;
  std::map<Place, Drawn> drawn_;
};

}  // namespace vernier
