#include "compare/outputs/postprocess.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "util/text/number_text.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

// Polygraphy removes any of these characters from the front, not the word that they spell.
std::string_view StripAnyOf(std::string_view text, std::string_view characters) {
  const size_t first = text.find_first_not_of(characters);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// The axis as the middle of three: outer blocks, the axis, elements between its neighbours.
struct AxisLayout {
  int64_t outer = 1;
  int64_t length = 0;
  int64_t inner = 1;
};

AxisLayout LayoutOf(const Dims& dims, size_t axis) {
  AxisLayout layout;
  for (size_t i = 0; i < axis; ++i) layout.outer *= dims[i];
  layout.length = dims[axis];
  for (size_t i = axis + 1; i < dims.size(); ++i) layout.inner *= dims[i];
  return layout;
}

// NaN sorts behind everything else.
template <typename T>
bool Before(T x, T y) {
  return x > y || (x == x && y != y);
}

template <typename T>
void SelectRow(const std::vector<T>& row, int64_t k, std::vector<int64_t>& order) {
  order.resize(row.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [&row](int64_t x, int64_t y) {
    const T& at_x = row[static_cast<size_t>(x)];
    const T& at_y = row[static_cast<size_t>(y)];
    if (Before(at_x, at_y)) return true;
    return !Before(at_y, at_x) && x < y;
  });
}

template <typename T>
void Select(const Tensor& tensor, const AxisLayout& layout, int64_t k, std::span<int64_t> out) {
  const ElementSpan elements = Elements(tensor);
  std::vector<T> row(static_cast<size_t>(layout.length));
  std::vector<int64_t> order;
  T scratch{};
  for (int64_t line = 0; line < layout.outer * layout.inner; ++line) {
    const int64_t block = line / layout.inner;
    const int64_t lane = line % layout.inner;
    for (int64_t i = 0; i < layout.length; ++i) {
      const int64_t place = (block * layout.length + i) * layout.inner + lane;
      row[static_cast<size_t>(i)] = *LoadBlock(elements, place, 1, &scratch);
    }
    SelectRow(row, k, order);
    for (int64_t i = 0; i < k; ++i) {
      out[static_cast<size_t>((block * k + i) * layout.inner + lane)] =
          order[static_cast<size_t>(i)];
    }
  }
}

}  // namespace

Result<TopK> ParseTopK(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  const auto invalid = [&text] {
    return InvalidArgument("Invalid post-processing function: " + std::string(text) +
                           ". Note: Valid choices are: ['top-<K>'].");
  };
  if (!trimmed.starts_with("top-")) return invalid();
  const size_t comma = trimmed.find(',');
  const std::optional<int64_t> k = ParseInt(StripAnyOf(trimmed.substr(0, comma), "top-"));
  if (!k) return invalid();
  TopK top{*k, -1};
  if (comma == std::string_view::npos) return top;
  const std::optional<int64_t> axis = ParseInt(StripAnyOf(trimmed.substr(comma + 1), "axis="));
  if (!axis) return invalid();
  top.axis = *axis;
  return top;
}

Result<Tensor> ApplyTopK(const Tensor& tensor, const TopK& top) {
  const auto rank = static_cast<int64_t>(tensor.dims().size());
  const DTypeKind kind = Kind(tensor.dtype());
  const int64_t axis = top.axis < 0 ? top.axis + rank : top.axis;
  if (axis < 0 || axis >= rank) {
    return InvalidArgument("top-k along axis " + std::to_string(top.axis) +
                           " needs such an axis, but the shape is " + FormatDims(tensor.dims()));
  }
  if (kind == DTypeKind::kString || kind == DTypeKind::kComplex || kind == DTypeKind::kNone) {
    return InvalidArgument("top-k needs values that can be ordered, not " +
                           std::string(DTypeName(tensor.dtype())));
  }
  const auto axis_index = static_cast<size_t>(axis);
  const int64_t k = std::clamp<int64_t>(top.k, 0, tensor.dims()[axis_index]);
  Dims dims = tensor.dims();
  dims[axis_index] = k;
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(DType::kInt64, dims));
  if (buffer.As<int64_t>().empty()) return std::move(buffer).Freeze();
  const AxisLayout layout = LayoutOf(tensor.dims(), axis_index);
  switch (NaturalArithmetic(tensor.dtype())) {
    case Arithmetic::kFloat32:
      Select<float>(tensor, layout, k, buffer.As<int64_t>());
      break;
    case Arithmetic::kFloat64:
      Select<double>(tensor, layout, k, buffer.As<int64_t>());
      break;
    case Arithmetic::kUint64:
      Select<uint64_t>(tensor, layout, k, buffer.As<int64_t>());
      break;
    default:
      Select<int64_t>(tensor, layout, k, buffer.As<int64_t>());
      break;
  }
  return std::move(buffer).Freeze();
}

Status PostprocessTopK(TensorMap& outputs, const PerOutput<TopK>& tops) {
  for (NamedTensor& output : outputs) {
    const TopK top = tops.Lookup(output.name, {});
    const bool is_count = output.tensor.dims().empty() && CountedBy(output.name) != '\0';
    if (top.k == 0 || is_count) continue;
    Result<Tensor> indices = ApplyTopK(output.tensor, top);
    if (!indices.ok()) {
      return std::move(indices).status().Annotate("post-processing output '" + output.name + "'");
    }
    output.tensor = *std::move(indices);
  }
  return {};
}

}  // namespace vernier
