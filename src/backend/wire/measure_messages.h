// What is measured of a pair of tensors, and the answer, as bytes of a message.
#pragma once

#include "backend/wire/wire.h"

namespace vernier {

struct MeasureRequest;
struct PairMeasures;

void EncodeRequest(const MeasureRequest& request, MessageWriter& out);
/// Levels that do not exist make the reader fail.
MeasureRequest DecodeRequest(MessageReader& in);

void EncodeMeasures(const PairMeasures& measures, MessageWriter& out);
PairMeasures DecodeMeasures(MessageReader& in);

}  // namespace vernier
