#include <limits>
#include <string>

#include "io/test_data/tensor_proto.h"

namespace vernier {
namespace {

// Keys of TensorProto's fields: number << 3 | wire type.
constexpr char kDimsKey = 1 << 3 | 0;
constexpr char kDataTypeKey = 2 << 3 | 0;
constexpr char kStringDataKey = 6 << 3 | 2;
constexpr char kNameKey = 8 << 3 | 2;
constexpr char kRawDataKey = 9 << 3 | 2;

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

void AppendText(char key, std::string_view text, std::string& out) {
  out += key;
  AppendVarint(text.size(), out);
  out += text;
}

}  // namespace

Status WriteTensorProto(const NamedTensor& named, ByteSink& sink) {
  const Tensor& tensor = named.tensor;
  if (tensor.bytes().size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) - 4096) {
    return InvalidArgument("'" + named.name +
                           "': a tensor of 2 GiB or more does not fit a .pb file");
  }
  std::string head;
  for (const int64_t dim : tensor.dims()) {
    head += kDimsKey;
    AppendVarint(static_cast<uint64_t>(dim), head);
  }
  head += kDataTypeKey;
  // The numbers of DType are those of ONNX.
  AppendVarint(static_cast<uint64_t>(tensor.dtype()), head);
  AppendText(kNameKey, named.name, head);
  if (tensor.dtype() == DType::kString) {
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      AppendText(kStringDataKey, tensor.StringAt(i), head);
    }
    return sink.WriteText(head);
  }
  head += kRawDataKey;
  AppendVarint(tensor.bytes().size(), head);
  VERNIER_TRY(sink.WriteText(head));
  return sink.Write(tensor.bytes());
}

}  // namespace vernier
