#include "step_trace.h"

#include "proto_bytes.h"
#include "vernier/backend_json.hpp"

namespace vernier::tf {
namespace {

// Fields of RunOptions, RunMetadata, StepStats, DeviceStepStats and NodeExecStats.
constexpr uint32_t kTraceLevel = 1;
constexpr uint64_t kFullTrace = 3;
constexpr uint32_t kStepStats = 1, kDevStats = 1;
constexpr uint32_t kDevice = 1, kNodeStats = 2;
constexpr uint32_t kNodeName = 1, kStart = 2, kRelativeStart = 3, kRelativeEnd = 4, kLabel = 8,
                   kThread = 12;

// "name = Op(inputs)" has the operation's type.
std::string_view OperationType(std::string_view label, std::string_view name) {
  const size_t equals = label.find(" = ");
  const size_t open = label.find('(');
  if (equals == std::string_view::npos || open == std::string_view::npos || open < equals) {
    return name;
  }
  return label.substr(equals + 3, open - equals - 3);
}

void AppendEvent(std::string_view stats, size_t process, std::string& out) {
  const std::string_view name = FieldBytes(stats, kNodeName);
  const std::string_view type = OperationType(FieldBytes(stats, kLabel), name);
  const uint64_t begin = FieldNumber(stats, kRelativeStart), end = FieldNumber(stats, kRelativeEnd);
  out += ",\n{\"ph\": \"X\", \"cat\": \"Op\", \"name\": " + sdk::JsonText(type) +
         ", \"pid\": " + std::to_string(process) +
         ", \"tid\": " + std::to_string(FieldNumber(stats, kThread)) +
         ", \"ts\": " + std::to_string(FieldNumber(stats, kStart) + begin) +
         ", \"dur\": " + std::to_string(end > begin ? end - begin : 0) +
         ", \"args\": {\"name\": " + sdk::JsonText(name) + ", \"op\": " + sdk::JsonText(type) +
         "}}";
}

}  // namespace

std::string TraceOptions() { return ProtoWriter().Number(kTraceLevel, kFullTrace).bytes(); }

std::string ChromeTrace(std::string_view run_metadata) {
  std::string events;
  size_t process = 0;
  for (const std::string_view device :
       AllFieldBytes(FieldBytes(run_metadata, kStepStats), kDevStats)) {
    events += std::string(process == 0 ? "" : ",\n") +
              "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": " + std::to_string(process) +
              ", \"args\": {\"name\": " + sdk::JsonText(FieldBytes(device, kDevice)) + "}}";
    for (const std::string_view stats : AllFieldBytes(device, kNodeStats)) {
      AppendEvent(stats, process, events);
    }
    ++process;
  }
  return "{\"traceEvents\": [\n" + events + "\n]}\n";
}

}  // namespace vernier::tf
