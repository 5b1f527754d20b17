#include "empty_value.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace vernier::ort {
namespace {

// Field numbers are those of onnx.proto; all numbers here are below 128.
std::string Number(char field, char value) { return {static_cast<char>(field << 3), value}; }

std::string Message(char field, std::string_view bytes) {
  std::string message = {static_cast<char>(field << 3 | 2), static_cast<char>(bytes.size())};
  return message.append(bytes);
}

// SequenceEmpty, and its output as that of the graph.
std::string ModelBytes(char element) {
  const std::string attribute = Message(1, "dtype") + Number(3, element) +
                                std::string("\xa0\x01\x02", 3);  // field 20: an integer
  const std::string node =
      Message(2, "value") + Message(4, "SequenceEmpty") + Message(5, attribute);
  const std::string tensor = Message(1, Number(1, element));
  const std::string output = Message(1, "value") + Message(2, Message(4, Message(1, tensor)));
  const std::string graph = Message(1, node) + Message(2, "empty") + Message(12, output);
  constexpr char kIrVersion = 8, kOpset = 11;
  return Number(1, kIrVersion) + Message(7, graph) + Message(8, Number(2, kOpset));
}

}  // namespace

Result<Value> MakeEmptySequence(const Api& api, ONNXTensorElementDataType element) {
  if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) {
    return Unimplemented("ONNX Runtime's C interface cannot create an empty value of that type");
  }
  const OrtApi& table = *api.table;
  OrtSessionOptions* options = nullptr;
  VERNIER_TRY(Take(api, table.CreateSessionOptions(&options)));
  const Handle<OrtSessionOptions> owned_options(options, table.ReleaseSessionOptions);
  VERNIER_TRY(Take(api, table.SetIntraOpNumThreads(options, 1)));
  VERNIER_TRY(Take(api, table.SetSessionLogSeverityLevel(options, ORT_LOGGING_LEVEL_ERROR)));
  const std::string model = ModelBytes(static_cast<char>(element));
  OrtSession* session = nullptr;
  VERNIER_TRY(Take(
      api, table.CreateSessionFromArray(api.env, model.data(), model.size(), options, &session)));
  const Handle<OrtSession> owned_session(session, table.ReleaseSession);
  Value value(api);
  const char* const name = "value";
  VERNIER_TRY(Take(api, table.Run(session, nullptr, nullptr, nullptr, 0, &name, 1, value.slot())));
  return value;
}

}  // namespace vernier::ort
