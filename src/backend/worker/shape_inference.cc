#include "backend/worker/shape_inference.h"

#include "backend/wire/tensor_block.h"
#include "backend/wire/wire.h"

namespace vernier {
namespace {

struct NoteLevel {
  char letter;
  Severity severity;
};
constexpr NoteLevel kLevels[] = {
    {'W', Severity::kWarning}, {'V', Severity::kVerbose}, {'X', Severity::kExtraVerbose}};

// "W text": a letter for the severity, then the note.
std::pair<Severity, std::string> ParseNote(std::string_view note) {
  for (const NoteLevel& level : kLevels) {
    if (note.size() > 2 && note[0] == level.letter) {
      return {level.severity, std::string(note.substr(2))};
    }
  }
  return {Severity::kVerbose, std::string(note)};
}

}  // namespace

Result<InferredModel> InferShapes(Worker& worker, std::span<const std::byte> file, ShapeTool tool) {
  const int64_t size = static_cast<int64_t>(file.size());
  TensorBlockBuilder builder;
  builder.Add("model", DType::kUint8, std::span(&size, 1), file);
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, builder.Finish());
  MessageWriter body;
  body.Number(static_cast<uint8_t>(tool == ShapeTool::kSymbolic));
  body.Append(block.description);
  VERNIER_ASSIGN_OR_RETURN(
      Worker::Answer answer,
      worker.Ask(MessageType::kInferShapes, body, block.memory.get(), "inferring shapes"));
  VERNIER_ASSIGN_OR_RETURN(const DecodedBlock decoded,
                           DecodeTensors(answer.body, std::move(answer.memory)));
  const Tensor* model = Find(decoded.tensors, "model");
  const Tensor* notes = Find(decoded.tensors, "notes");
  if (model == nullptr || notes == nullptr || notes->dtype() != DType::kString) {
    return BackendError("a worker sent a malformed answer for --shape-inference");
  }
  InferredModel inferred{*model, {}};
  for (int64_t i = 0; i < notes->element_count(); ++i) {
    inferred.notes.push_back(ParseNote(notes->StringAt(i)));
  }
  return inferred;
}

}  // namespace vernier
