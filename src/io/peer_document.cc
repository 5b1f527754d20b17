#include "io/peer_document.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "io/peer_array.h"

namespace vernier {
namespace {

constexpr uint64_t kWorthReleasing = uint64_t{1} << 20;

// Unmaps the pages inside [begin, end); they stay in the page cache and come back when touched.
void ReleasePages(const MappedFile& file, uint64_t begin, uint64_t end) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = std::min<uint64_t>(end, file.bytes().size()) / page * page;
  if (end <= begin || end - begin < kWorthReleasing) return;
  auto* data = const_cast<std::byte*>(file.bytes().data());
  ::madvise(data + begin, static_cast<size_t>(end - begin), MADV_DONTNEED);
}

}  // namespace

Result<std::unique_ptr<PeerDocument>> PeerDocument::Open(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(auto file, MappedFile::Open(path));
  auto document = std::unique_ptr<PeerDocument>(new PeerDocument(std::move(file)));
  const MappedFile& map = *document->file_;
  const std::string_view text(reinterpret_cast<const char*>(map.bytes().data()),
                              map.bytes().size());
  uint64_t released = 0;
  Result<JsonTape> tape = JsonTape::Parse(text, [&](uint64_t consumed) {
    ReleasePages(map, released, consumed);
    released = consumed;
  });
  if (!tape.ok()) {
    return document->Annotate(std::move(tape).status().Annotate("not valid JSON"));
  }
  document->tape_ = *std::move(tape);
  return document;
}

Status PeerDocument::Annotate(Status status) const {
  return std::move(status).Annotate("'" + path() + "'");
}

Result<TensorMap> PeerDocument::DecodeTensors(JsonValue map) const {
  const std::vector<JsonValue::Member> members = map.Members();
  TensorMap tensors;
  tensors.reserve(members.size());
  for (const auto& [name, value] : members) {
    Result<Tensor> tensor = DecodePeerArray(value);
    if (!tensor.ok()) {
      return Annotate(std::move(tensor).status().Annotate("tensor '" + name + "'"));
    }
    tensors.push_back({name, *std::move(tensor)});
    ReleasePages(*file_, value.offset(), value.EndOffset());
  }
  return tensors;
}

}  // namespace vernier
