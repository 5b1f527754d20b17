// One output of one iteration, as the record keeps it.
#pragma once

#include <cstdint>

#include "vernier/run_record.h"

namespace vernier {

struct FunctionResult;
struct OutputComparison;

/// Whether to read the elements again for the record's charts.
enum class Charts : uint8_t { kNone, kWanted };

/// The result of one function for an output.
GateRecord MakeGate(const FunctionResult& result);

/// What the comparison measured; parts that it did not are absent.
OutputFigures MakeFigures(const OutputComparison& output, int64_t iteration, Charts wanted);

}  // namespace vernier
