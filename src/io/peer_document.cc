#include "io/peer_document.h"

#include <utility>
#include <vector>

#include "io/base64_source.h"
#include "io/peer_array.h"

namespace vernier {

Result<std::unique_ptr<PeerDocument>> PeerDocument::Open(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(auto file, InputFile::Open(path));
  return Open(std::move(file));
}

Result<std::unique_ptr<PeerDocument>> PeerDocument::Open(std::shared_ptr<const InputFile> file) {
  Result<JsonTape> tape = JsonTape::Parse(file, NpyPayloadLength);
  if (!tape.ok()) {
    return std::move(tape).Annotate("'" + file->path() + "': not valid JSON").status();
  }
  return std::unique_ptr<PeerDocument>(new PeerDocument(file->path(), *std::move(tape)));
}

Status PeerDocument::Annotate(Status status) const {
  return std::move(status).Annotate("'" + path() + "'");
}

Result<TensorMap> PeerDocument::DecodeTensors(JsonValue map) const {
  const std::vector<JsonValue::Member> members = map.Members();
  TensorMap tensors;
  tensors.reserve(members.size());
  for (const auto& [name, value] : members) {
    Result<Tensor> tensor = DecodePeerArray(value, pool_.get());
    if (!tensor.ok()) {
      return Annotate(std::move(tensor).status().Annotate("tensor '" + name + "'"));
    }
    tensors.push_back({name, *std::move(tensor)});
  }
  return tensors;
}

}  // namespace vernier
