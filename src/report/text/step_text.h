// The development over the steps of a run, in words.
#pragma once

#include <string>

#include "vernier/blame_record.h"
#include "vernier/run_record.h"

namespace vernier {

/// How the error of a pair develops from step to step, and where it is first out of tolerance: one
/// sentence about the output that says most (one that failed first, else the one whose error grows
/// most; a state only where there is nothing else). Empty where no output has a time.
std::string FormatSteps(const PairRecord& pair);

/// Which step the layers of a search are of, and whether it is wrong by itself or its state came
/// wrong: one sentence.
std::string FormatBlameStep(const BlameStepRecord& step);

}  // namespace vernier
