#include "picture/color_bar.h"

#include <cmath>

namespace vernier {
namespace {

int HeightAt(const Box& box, double position) {
  return box.y + static_cast<int>(std::lround((1 - position) * (box.height - 1)));
}

}  // namespace

void DrawColorBar(Figure& figure, const Typeface& typeface, const Scale& scale, const Box& box,
                  const BarLabels& labels) {
  Pixels colors(1, kColorSteps, kPaper);
  for (int y = 0; y < kColorSteps; ++y) {
    colors.At(0, y) = Cividis(1 - static_cast<double>(y) / (kColorSteps - 1));
  }
  figure.Add(Raster{box, std::move(colors)});
  figure.Add(Outline{{box.x - 1, box.y - 1, box.width + 2, box.height + 2}, kFaintInk});
  for (const Tick& tick : scale.Ticks(std::max(box.height / 40, 2))) {
    const int y = HeightAt(box, tick.position);
    figure.Add(FilledBox{{box.x + box.width + 1, y, 5, 1}, kInk});
    figure.Add(Text{box.x + box.width + 9, y + 5, tick.label});
  }
  Text name{box.x + box.width + 86, box.y + box.height / 2, typeface.Fit(labels.name, box.height),
            TextAnchor::kMiddle, kFaintInk};
  name.upward = true;
  figure.Add(std::move(name));
  if (labels.mark_name.empty() || !scale.Contains(labels.mark)) return;
  const int y = HeightAt(box, scale.Position(labels.mark));
  figure.Add(FilledBox{{box.x - 8, y - 1, box.width + 8, 2}, kTolerance});
  figure.Add(Text{box.x - 11, y + 5, labels.mark_name, TextAnchor::kEnd, kTolerance});
}

}  // namespace vernier
