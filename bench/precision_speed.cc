// How fast mean average precision is, and how fast with the bootstrap of both sides.
//
//   precision_speed LABELS FIRST SECOND    files of float64, seven to a box (precision_pycoco.py)
//
// Prints lines "name value". Built by run_bench.py against the libraries of a build folder.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "decide/figures/precision_bootstrap.h"
#include "timing.h"

namespace vernier {
namespace {

/// The image, the corner and the size of a box; of a detection its score, of a label its area; the
/// category.
struct BoxRow {
  double image, x, y, width, height, extra, category;
};

struct Image {
  std::vector<LabelledBox> labels;
  std::vector<DetectedBox> first, second;
};

std::vector<BoxRow> ReadRows(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<BoxRow> rows(bytes.size() / sizeof(BoxRow));
  std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(BoxRow));
  return rows;
}

std::map<int64_t, Image> ReadImages(char** paths) {
  std::map<int64_t, Image> images;
  const auto number = [](double value) { return static_cast<int64_t>(value); };
  for (const BoxRow& row : ReadRows(paths[0])) {
    images[number(row.image)].labels.push_back(
        {row.x, row.y, row.width, row.height, row.extra, number(row.category)});
  }
  for (const int side : {1, 2}) {
    for (const BoxRow& row : ReadRows(paths[side])) {
      Image& image = images[number(row.image)];
      (side == 1 ? image.first : image.second)
          .push_back({row.x, row.y, row.width, row.height, row.extra, number(row.category)});
    }
  }
  return images;
}

DetectionScorer Scored(const std::map<int64_t, Image>& images, bool first) {
  DetectionScorer scorer;
  for (const auto& [id, image] : images) {
    (void)scorer.AddImage(id, first ? image.first : image.second, image.labels);
  }
  return scorer;
}

int Measure(char** paths) {
  constexpr int kRounds = 3;
  const std::map<int64_t, Image> images = ReadImages(paths);
  AveragePrecision figures;
  const double one_side = BestSeconds(kRounds, [&] { figures = Scored(images, true).Figures(); });
  PrecisionIntervals intervals;
  const double both_sides = BestSeconds(kRounds, [&] {
    const DetectionScorer first = Scored(images, true), second = Scored(images, false);
    figures = first.Figures();
    (void)second.Figures();
    intervals = BootstrapPrecision(first, second, 1);
  });
  std::printf("precision %.9f\nbootstrap %.9f\nap %.15f\ndraws %lld\nlow %.15f\nhigh %.15f\n",
              one_side, both_sides, figures.ap, static_cast<long long>(intervals.draws),
              intervals.drop_low, intervals.drop_high);
  return 0;
}

}  // namespace
}  // namespace vernier

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: precision_speed LABELS FIRST SECOND\n");
    return 2;
  }
  return vernier::Measure(words + 1);
}
