// Whether the statements of a row about a sample are consistent. Only for this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vernier/decision_record.h"

namespace vernier {

/// What contradicts itself.
enum class SampleFault : uint8_t {
  kNone,
  kSimilarityRange,   ///< not from 0 to 1
  kMarginRange,       ///< below 0, of classes
  kFlipOfEqual,       ///< a flip, and the decisions are the same
  kFlipOfDifferent,   ///< no flip, and they are not
  kFlipOfInvalid,     ///< a side is invalid, or the flip is, and the other says nothing of it
  kFlipOfSimilarity,  ///< no flip, and a similarity below that of decisions which agree; or reverse
  kFlipByMargin,      ///< a near tie or a clear flip, and the margin makes it the other
  kScoreRange,        ///< not from 0 to 1, or of an error below 0
  kScoreWithoutLabel,
  kFirstScore,  ///< right, and the decision is not the label; or wrong, and it is
  kSecondScore,
  kFirstBeyond,  ///< a class that the output does not have
  kSecondBeyond,
  kLabelBeyond,
  kTotals,  ///< boxes or classes that add up to another flip or similarity
};

/// The first that is wrong with a sample of a decision of that kind. Texts that do not list all
/// that was decided, and what scripts decide, are accepted unless something contradicts them.
SampleFault FindSampleFault(std::string_view kind, std::optional<int64_t> classes,
                            const DecisionSample& sample);

/// How the columns of a sample begin: "logits", and "a/logits" and "b/logits" of the sides.
struct SampleColumns {
  std::string name, first, second;
};

/// A sentence that names the columns and their values.
std::string SampleFaultText(SampleFault fault, const SampleColumns& columns,
                            std::optional<int64_t> classes, const DecisionSample& sample);

}  // namespace vernier
