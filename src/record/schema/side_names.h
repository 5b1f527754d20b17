// How the sides of a run are called where people and pipelines read of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vernier/blame_record.h"
#include "vernier/run_record.h"

namespace vernier {

enum class NameStyle : uint8_t {
  kStable,  ///< "onnxrt-runner-N0", the same for each run of a command
  kShort,   ///< "onnxrt" where no other side would be called so, else as above
};

/// The record with other names for its runners and for the sides of its pairs: unnamed runners
/// without the time of the run, loaded sides by the name of their file where that time was their
/// name. Of several sides with one name, those from files have the file's behind it: "r (a.json)";
/// what is the same even then is numbered: "r (2)". Names that people gave stay. Notes, faults,
/// errors and what blame says follow.
RunRecord WithSideNames(RunRecord record, NameStyle style);
BlameRecord WithSideNames(BlameRecord record, NameStyle style);

/// The short names of the runners of one run, each where its own stood. Each stands there once.
std::vector<std::string> ShortNames(std::span<const std::string> names);

}  // namespace vernier
