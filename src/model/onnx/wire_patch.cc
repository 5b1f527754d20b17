#include "model/onnx/wire_patch.h"

#include <algorithm>
#include <span>

#include "model/onnx/wire_reader.h"

namespace vernier {
namespace {

class Patcher {
 public:
  explicit Patcher(std::span<const WirePatch> patches) : patches_(patches) {}

  bool done() const { return next_ == patches_.size(); }

  void Rewrite(WireReader reader, BytePieces& out);

 private:
  const char* NextPlace() const { return patches_[next_].place.data(); }

  // Applies the patches at the start of a field; returns how far the file is used up.
  const char* ApplyAt(const char* field_begin, const char* copied, BytePieces& out) {
    while (!done() && NextPlace() == field_begin) {
      out.AddView({copied, static_cast<size_t>(std::max(copied, field_begin) - copied)});
      out.Append(patches_[next_].replacement);
      copied = std::max(copied, field_begin + patches_[next_].place.size());
      ++next_;
    }
    return copied;
  }

  std::span<const WirePatch> patches_;
  size_t next_ = 0;
};

void Patcher::Rewrite(WireReader reader, BytePieces& out) {
  const std::string_view whole = reader.MessageBytes();
  const char* copied = whole.data();
  while (!done() && reader.Next()) {
    const OnnxFieldInfo* info = FindField(reader.message(), reader.field());
    const bool nested =
        reader.type() == WireType::kBytes && info != nullptr && info->kind == OnnxField::kMessage;
    const WireReader inner = nested ? reader.Message(info->child) : reader;
    if (!nested) reader.Skip();
    const std::string_view field = reader.FieldBytes();
    copied = ApplyAt(field.data(), copied, out);
    const char* const field_end = field.data() + field.size();
    if (done() || !nested || copied == field_end || NextPlace() >= field_end) continue;
    BytePieces content;
    Rewrite(inner, content);
    std::string head;
    AppendTag(head, reader.field(), WireType::kBytes);
    AppendVarint(head, content.size());
    out.AddView({copied, static_cast<size_t>(field.data() - copied)});
    out.AddOwned(std::move(head));
    out.Append(content);
    copied = field_end;
  }
  out.AddView({copied, static_cast<size_t>(whole.data() + whole.size() - copied)});
}

}  // namespace

Result<BytePieces> ApplyPatches(std::string_view file, std::vector<WirePatch> patches) {
  std::stable_sort(patches.begin(), patches.end(), [](const WirePatch& a, const WirePatch& b) {
    if (a.place.data() != b.place.data()) return a.place.data() < b.place.data();
    return a.place.size() < b.place.size();
  });
  BytePieces out;
  WireSource source(file);
  Patcher patcher(patches);
  patcher.Rewrite(WireReader(source, OnnxMessage::kModel, file), out);
  if (!patcher.done() || source.failed()) return Internal("a patch is not at a field");
  return out;
}

}  // namespace vernier
