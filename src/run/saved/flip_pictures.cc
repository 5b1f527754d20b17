#include "run/saved/flip_pictures.h"

#include <algorithm>
#include <utility>

#include "images/input_picture.h"
#include "io/bytes/base64.h"
#include "io/bytes/byte_sink.h"
#include "picture/png.h"

namespace vernier {
namespace {

constexpr int64_t kLongestSideDrawn = 160;

Pixels PixelsOf(const RasterImage& raster) {
  Pixels pixels(static_cast<int>(raster.size.width), static_cast<int>(raster.size.height), Rgb());
  const auto channels = static_cast<size_t>(raster.channels);
  for (size_t i = 0; i < pixels.colors.size(); ++i) {
    const uint8_t* const from = raster.pixels.data() + i * channels;
    const bool gray = channels == 1;
    pixels.colors[i] = {from[0], gray ? from[0] : from[1], gray ? from[0] : from[2]};
  }
  return pixels;
}

Result<std::string> EncodedPicture(const RasterImage& raster) {
  VERNIER_ASSIGN_OR_RETURN(const std::string png, EncodePng(PixelsOf(raster)));
  StringSink text;
  Base64Sink encoder(text);
  VERNIER_TRY(encoder.WriteText(png));
  VERNIER_TRY(encoder.Finish());
  return text.text();
}

}  // namespace

FlipPictures::FlipPictures(const RunPlan& plan)
    : wanted_(!plan.decisions.decisions.empty() && plan.save.WantsCharts() &&
              !plan.execution.sequential && !plan.steps.wanted()),
      most_(plan.decisions.worst_flips) {
  if (plan.inputs.preprocess.empty()) return;
  Result<PreprocessWords> words = ParsePreprocess(plan.inputs.preprocess);
  if (words.ok()) words_ = *std::move(words);
}

TensorMap FlipPictures::ImagesOf(const TensorMap& feed) const {
  TensorMap images;
  if (!wanted_) return images;
  for (const NamedTensor& input : feed) {
    if (FindImageAxes(input.tensor)) images.push_back(input);
  }
  return images;
}

// Where there are other numbers of samples and images, it is not known which belong together.
std::optional<int64_t> FlipPictures::ImageOf(const WorstFlip& flip, int64_t images) {
  if (images == 1) return 0;
  return flip.rows == images ? std::optional(flip.row) : std::nullopt;
}

void FlipPictures::Draw(const WorstFlip& flip, const TensorMap& feed) {
  for (const NamedTensor& input : feed) {
    const std::optional<ImageAxes> axes = FindImageAxes(input.tensor);
    const std::optional<int64_t> image = axes ? ImageOf(flip, axes->images) : std::nullopt;
    if (!image) continue;
    const Place place(flip.iteration, input.name, *image);
    if (drawn_.contains(place)) continue;
    InputPicture picture =
        ShowInput(input.tensor, *axes, *image, words_ ? &*words_ : nullptr, kLongestSideDrawn);
    drawn_[place] = {axes->images, std::move(picture.raster), std::move(picture.how)};
  }
}

void FlipPictures::Keep(int64_t iteration, const TensorMap& feed,
                        const std::vector<const WorstFlip*>& worst) {
  bool any = false;
  for (const WorstFlip* flip : worst) {
    if (flip->iteration != iteration) continue;
    any = true;
    Draw(*flip, feed);
  }
  // Only new ones take the place of others.
  if (any) LetGo(worst);
}

void FlipPictures::LetGo(const std::vector<const WorstFlip*>& worst) {
  std::erase_if(drawn_, [&](const auto& one) {
    const auto& [kept, input, image] = one.first;
    const int64_t images = one.second.images;
    return std::ranges::none_of(worst, [&](const WorstFlip* flip) {
      return flip->iteration == kept && ImageOf(*flip, images) == image;
    });
  });
}

Result<std::vector<ShardPicture>> FlipPictures::DrawnOf(int64_t iteration) const {
  std::vector<ShardPicture> pictures;
  for (auto at = drawn_.lower_bound(Place(iteration, "", 0)); at != drawn_.end(); ++at) {
    const auto& [of, input, image] = at->first;
    if (of != iteration) break;
    VERNIER_ASSIGN_OR_RETURN(std::string png, EncodedPicture(at->second.raster));
    pictures.push_back(
        {{iteration, image, input, at->second.how, std::move(png)}, at->second.images});
  }
  return pictures;
}

void FlipPictures::Take(int64_t iteration, std::vector<ShardPicture> pictures,
                        const std::vector<const WorstFlip*>& worst) {
  bool any = false;
  for (const WorstFlip* flip : worst) any |= flip->iteration == iteration;
  if (!any) return;
  for (auto& [picture, images] : pictures) {
    const Place place(iteration, picture.input, picture.image);
    drawn_[place] = {images, {}, std::move(picture.how), std::move(picture.png)};
  }
  LetGo(worst);
}

Status FlipPictures::AddFlip(WorstFlip& flip, std::map<Place, int64_t>& added,
                             RunRecord& run) const {
  for (auto at = drawn_.lower_bound(Place(flip.iteration, "", 0)); at != drawn_.end(); ++at) {
    const auto& [iteration, input, image] = at->first;
    if (iteration != flip.iteration) break;
    if (ImageOf(flip, at->second.images) != image) continue;
    auto found = added.find(at->first);
    if (found == added.end()) {
      if (static_cast<int64_t>(run.flip_pictures.size()) == most_) continue;
      std::string png = at->second.png;
      if (png.empty()) {
        VERNIER_ASSIGN_OR_RETURN(png, EncodedPicture(at->second.raster));
      }
      found = added.emplace(at->first, static_cast<int64_t>(run.flip_pictures.size())).first;
      run.flip_pictures.push_back({iteration, image, input, at->second.how, std::move(png)});
    }
    flip.pictures.push_back(found->second);
  }
  return {};
}

Status FlipPictures::AddTo(RunRecord& run) const {
  if (drawn_.empty()) return {};
  std::map<Place, int64_t> added;
  for (size_t rank = 0; rank < static_cast<size_t>(most_); ++rank) {
    for (PairRecord& pair : run.pairs) {
      for (DecisionRecord& decision : pair.decisions) {
        if (rank >= decision.worst.size()) continue;
        VERNIER_TRY(AddFlip(decision.worst[rank], added, run));
      }
    }
  }
  return {};
}

}  // namespace vernier
