// Files of labels, in each format, and of names of classes. The first byte chooses what the rest
// is.
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "decide/kinds/decision.h"
#include "fuzz_target.h"
#include "run/labels/class_names.h"
#include "run/labels/labelled_boxes.h"
#include "run/labels/sample_labels.h"

namespace {

using namespace vernier;

constexpr int64_t kSamples = 2;

// Decisions about two samples of both sides.
struct Decided {
  DecisionPlan plan;
  Tensor output;
  std::vector<DecisionSample> samples;
};

Tensor Floats(Dims dims, std::span<const float> values) {
  Result<Tensor> tensor = Tensor::Copy(DType::kFloat32, std::move(dims), std::as_bytes(values));
  fuzz::Require(tensor.ok(), "a small tensor");
  return *std::move(tensor);
}

Tensor Rising(Dims dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0F);
  return Floats(std::move(dims), values);
}

Decided Decide(const char* words, Dims dims) {
  Result<DecisionPlan> plan = ParseDecision(words);
  fuzz::Require(plan.ok(), "words are right");
  Decided decided{*std::move(plan), Rising(std::move(dims)), {}};
  Result<std::vector<DecisionSample>> samples =
      Decide(decided.plan, decided.output, decided.output, {}, 0.0);
  fuzz::Require(samples.ok() && samples->size() == kSamples, "two samples");
  decided.samples = *std::move(samples);
  return decided;
}

// A score is a share; of numbers it is an error.
void CheckScore(DecisionKind kind, double score) {
  const bool is_error = kind == DecisionKind::kRegression;
  fuzz::Require(std::isnan(score) || (score >= 0 && (is_error || score <= 1)), "a score");
}

void Score(const SampleLabels& labels) {
  static const std::array<Decided, 5> decisions = {
      Decide("top2", {kSamples, 4}), Decide("threshold=2", {kSamples, 4}),
      Decide("argmax", {kSamples, 3, 2, 2}), Decide("ctc", {kSamples, 4, 3}),
      Decide("regression=1", {kSamples, 3})};
  for (const Decided& decided : decisions) {
    const ScoredOutputs outputs{&decided.output, &decided.output};
    for (int64_t iteration = 0; iteration < 3; ++iteration) {
      std::vector<DecisionSample> samples = decided.samples;
      const ScoredSamples scored =
          ScoreSamples(labels, decided.plan, iteration, iteration * kSamples, outputs, samples);
      fuzz::Require(samples.size() == kSamples, "no sample is lost");
      for (const DecisionSample& sample : samples) {
        CheckScore(decided.plan.kind, sample.first_score);
        CheckScore(decided.plan.kind, sample.second_score);
        const bool alike = sample.first_score == sample.second_score || !sample.labelled();
        fuzz::Require(alike, "sides that are alike are equally right");
      }
      for (const ShardUnfitLabel& unfit : scored.unfit) {
        fuzz::Require(unfit.sample < kSamples && !unfit.why.empty(), "a sample, and why");
      }
    }
    (void)labels.WrongCount(decided.plan.kind, 3 * kSamples, 3);
    (void)labels.WhereIs(1);
  }
}

// Boxes of both sides, one sample an iteration.
void ScoreBoxes(const std::string& path) {
  const Result<BoxLabels> labels = BoxLabels::Load(path);
  if (!labels.ok()) return;
  for (const CocoImage& image : labels->coco().images) {
    for (const LabelledBox& box : image.boxes) {
      fuzz::Require(std::isfinite(box.x + box.y), "a place");
      fuzz::Require(box.width >= 0 && box.height >= 0 && box.area >= 0, "a size");
    }
  }
  (void)labels->Notes();
  (void)labels->OtherClasses(2);
  (void)labels->TooFew(2);
  static const DecisionPlan plan = *ParseDecision("boxes:xyxy,score,class,units=pixels");
  static constexpr float kBoxes[] = {0, 0, 4, 4, 0.9F, 0, 1, 1, 3, 3, 0.8F, 1, 0, 0, 9, 9, 0.5F, 0};
  static const Tensor output = Floats({1, 3, 6}, kBoxes);
  LabelledBoxes scored(*labels, plan);
  for (int64_t i = 0; i < 3; ++i) scored.Add(i, output, output);
  const std::optional<PrecisionRecord> record = scored.Record(1);
  if (!record) {
    fuzz::Require(!scored.Fault().empty(), "no figures without a reason");
    return;
  }
  const double ap = record->first.ap;
  fuzz::Require(std::isnan(ap) || (ap >= 0 && ap <= 1), "an average precision");
  fuzz::Require(std::isnan(ap) || ap == record->second.ap, "sides that are alike score alike");
}

void Name(const std::string& path) {
  const Result<ClassNames> names = ClassNames::Load(path);
  if (!names.ok()) return;
  fuzz::Require(names->size() > 0, "a file of names has one");
  (void)names->InWords(DecisionKind::kTop, "0 1 99");
  (void)names->ClassOf("dog");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const fuzz::NamedFiles files;
  static constexpr std::pair<char, const char*> kFormats[] = {
      {'a', "l.npy"}, {'z', "l.npz"}, {'j', "l.jsonl"}, {'t', "l.txt"}};
  const auto rest = fuzz::Bytes(data + 1, size - 1);
  if (data[0] == 'c') ScoreBoxes(files.Write("l.json", rest));
  if (data[0] == 'n') Name(files.Write("names.txt", rest));
  for (const auto& [letter, name] : kFormats) {
    if (data[0] != letter) continue;
    const Result<SampleLabels> labels = SampleLabels::Load(files.Write(name, rest));
    fuzz::Require(labels.ok() || !labels.status().message().empty(), "a refusal says why");
    if (labels.ok()) Score(*labels);
  }
  return 0;
}
