// --save-timeline: one run as a trace for chrome://tracing or Perfetto.
#pragma once

#include <string>
#include <string_view>

namespace vernier::tf {

/// A serialized RunOptions that asks for a full trace.
std::string TraceOptions();

/// The trace of a serialized RunMetadata, as JSON.
std::string ChromeTrace(std::string_view run_metadata);

}  // namespace vernier::tf
