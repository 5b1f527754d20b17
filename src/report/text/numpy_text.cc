#include "report/text/numpy_text.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "report/text/numpy_float.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr int64_t kThreshold = 1000;

// How many elements an axis shows at each end; all of them where that is as much.
using EdgeItems = std::optional<int64_t>;

FloatWidth WidthOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return FloatWidth::kHalf;
    case DType::kFloat64:
    case DType::kComplex128:
      return FloatWidth::kDouble;
    default:
      return FloatWidth::kSingle;
  }
}

template <typename T>
T ValueAt(const Tensor& tensor, int64_t index) {
  T scratch{};
  return *LoadBlock(Elements(tensor), index, 1, &scratch);
}

using ElementText = std::function<std::string(int64_t)>;

ElementText FloatText(const Tensor& tensor, const std::vector<int64_t>& shown) {
  std::vector<double> values;
  for (const int64_t index : shown) values.push_back(ValueAt<double>(tensor, index));
  const NumpyFloatFormat format(values, WidthOf(tensor.dtype()), false);
  return [&tensor, format](int64_t i) { return format.Format(ValueAt<double>(tensor, i)); };
}

ElementText ComplexText(const Tensor& tensor, const std::vector<int64_t>& shown) {
  std::vector<double> real;
  std::vector<double> imaginary;
  for (const int64_t index : shown) {
    const auto value = ValueAt<std::complex<double>>(tensor, index);
    real.push_back(value.real());
    imaginary.push_back(value.imag());
  }
  const NumpyFloatFormat real_format(real, WidthOf(tensor.dtype()), false);
  const NumpyFloatFormat imaginary_format(imaginary, WidthOf(tensor.dtype()), true);
  return [&tensor, real_format, imaginary_format](int64_t i) {
    const auto value = ValueAt<std::complex<double>>(tensor, i);
    std::string text = imaginary_format.Format(value.imag());
    // The j stands before the padding.
    const size_t end = text.find_last_not_of(' ') + 1;
    return real_format.Format(value.real()) + text.insert(end, "j");
  };
}

template <typename T>
ElementText IntegerText(const Tensor& tensor, const std::vector<int64_t>& shown) {
  size_t width = 0;
  for (const int64_t index : shown) {
    width = std::max(width, std::to_string(ValueAt<T>(tensor, index)).size());
  }
  return [&tensor, width](int64_t i) {
    const std::string text = std::to_string(ValueAt<T>(tensor, i));
    return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
  };
}

// How to write one element, given those that will be written. Refers to `tensor`.
ElementText MakeElementText(const Tensor& tensor, const std::vector<int64_t>& shown) {
  if (tensor.dtype() == DType::kBool) {
    return [&tensor](int64_t i) {
      return std::string(ValueAt<int64_t>(tensor, i) != 0 ? " True" : "False");
    };
  }
  switch (NaturalArithmetic(tensor.dtype())) {
    case Arithmetic::kFloat32:
    case Arithmetic::kFloat64:
      return FloatText(tensor, shown);
    case Arithmetic::kInt64:
      return IntegerText<int64_t>(tensor, shown);
    case Arithmetic::kUint64:
      return IntegerText<uint64_t>(tensor, shown);
    case Arithmetic::kComplex:
      return ComplexText(tensor, shown);
    case Arithmetic::kString:
      return [&tensor](int64_t i) { return QuotePython(tensor.StringAt(i)); };
    case Arithmetic::kNone:
      break;
  }
  return [](int64_t) { return std::string("?"); };
}

std::string ScalarText(const Tensor& tensor) {
  const FloatWidth width = WidthOf(tensor.dtype());
  switch (NaturalArithmetic(tensor.dtype())) {
    case Arithmetic::kFloat32:
    case Arithmetic::kFloat64:
      return FormatNumpyFloatScalar(ValueAt<double>(tensor, 0), width);
    case Arithmetic::kInt64:
      if (tensor.dtype() == DType::kBool)
        return ValueAt<int64_t>(tensor, 0) != 0 ? "True" : "False";
      return std::to_string(ValueAt<int64_t>(tensor, 0));
    case Arithmetic::kUint64:
      return std::to_string(ValueAt<uint64_t>(tensor, 0));
    case Arithmetic::kString:
      return std::string(tensor.StringAt(0));
    case Arithmetic::kComplex: {
      const auto value = ValueAt<std::complex<double>>(tensor, 0);
      const auto part = [width](double x) {
        const std::string text = FormatNumpyFloatScalar(x, width);
        return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
      };
      const std::string imaginary = part(value.imag()) + "j";
      if (value.real() == 0 && !std::signbit(value.real())) return imaginary;
      const bool plus = !std::signbit(value.imag()) || std::isnan(value.imag());
      return "(" + part(value.real()) + (plus ? "+" : "") + imaginary + ")";
    }
    case Arithmetic::kNone:
      break;
  }
  return "?";
}

/// Lays an array out in nested brackets, wrapping its rows.
class ArrayLayout {
 public:
  ArrayLayout(const Dims& dims, EdgeItems edge, size_t width, ElementText text)
      : dims_(dims), edge_(edge), width_(width), text_(std::move(text)) {
    strides_.assign(dims.size(), 1);
    for (size_t axis = dims.size(); axis-- > 1;) strides_[axis - 1] = strides_[axis] * dims[axis];
  }

  std::string Write() { return WriteAxis(0, 0, " ", width_); }

  /// The indices along an axis that are shown; -1 stands for the dots.
  static std::vector<int64_t> ShownAlong(int64_t length, EdgeItems edge) {
    std::vector<int64_t> shown;
    const bool shorten = edge && *edge < (length + 1) / 2;
    for (int64_t i = 0; i < length; ++i) {
      if (shorten && i == *edge) {
        shown.push_back(-1);
        i = length - *edge;
      }
      shown.push_back(i);
    }
    return shown;
  }

 private:
  std::string WriteAxis(size_t axis, int64_t offset, const std::string& indent, size_t width) {
    if (axis + 1 == dims_.size()) return WriteRow(axis, offset, indent, width);
    std::string text;
    const std::string separator(dims_.size() - axis - 1, '\n');
    const std::vector<int64_t> shown = ShownAlong(dims_[axis], edge_);
    for (size_t i = 0; i < shown.size(); ++i) {
      if (i > 0) text += separator + indent;
      text += shown[i] < 0 ? "..."
                           : WriteAxis(axis + 1, offset + shown[i] * strides_[axis], indent + " ",
                                       width - 1);
    }
    return "[" + text + "]";
  }

  // A row's own closing bracket must fit its width; the outer ones were taken off before.
  std::string WriteRow(size_t axis, int64_t offset, const std::string& indent, size_t width) {
    std::string text;
    std::string line = indent;
    const std::vector<int64_t> shown = ShownAlong(dims_[axis], edge_);
    for (size_t i = 0; i < shown.size(); ++i) {
      const std::string word = shown[i] < 0 ? "..." : text_(offset + shown[i]);
      if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line = indent;
      }
      line += word;
      if (i + 1 < shown.size()) line += " ";
    }
    text += line;
    return "[" + text.substr(indent.size()) + "]";
  }

  const Dims& dims_;
  EdgeItems edge_;
  size_t width_;
  ElementText text_;
  std::vector<int64_t> strides_;
};

// Flat indices of all elements that will be shown.
std::vector<int64_t> ShownElements(const Dims& dims, EdgeItems edge) {
  std::vector<int64_t> shown = {0};
  for (const int64_t length : dims) {
    std::vector<int64_t> next;
    for (const int64_t offset : shown) {
      for (const int64_t i : ArrayLayout::ShownAlong(length, edge)) {
        if (i >= 0) next.push_back(offset * length + i);
      }
    }
    shown = std::move(next);
  }
  return shown;
}

}  // namespace

std::string FormatNumpyArray(const Tensor& tensor, const NumpyPrintOptions& options) {
  if (tensor.element_count() == 0) return "[]";
  if (tensor.dims().empty()) return ScalarText(tensor);
  const EdgeItems edge =
      tensor.element_count() > kThreshold ? EdgeItems(options.edge_items) : std::nullopt;
  const std::vector<int64_t> shown = ShownElements(tensor.dims(), edge);
  return ArrayLayout(tensor.dims(), edge, options.line_width, MakeElementText(tensor, shown))
      .Write();
}

std::string FormatNumpySelection(const Tensor& tensor, const std::vector<int64_t>& places) {
  if (places.empty()) return "[]";
  const NumpyPrintOptions options;
  const Dims dims = {static_cast<int64_t>(places.size())};
  const EdgeItems edge = dims[0] > kThreshold ? EdgeItems(options.edge_items) : std::nullopt;
  std::vector<int64_t> shown = ShownElements(dims, edge);
  for (int64_t& index : shown) index = places[static_cast<size_t>(index)];
  const ElementText text = MakeElementText(tensor, shown);
  return ArrayLayout(dims, edge, options.line_width,
                     [&](int64_t i) { return text(places[static_cast<size_t>(i)]); })
      .Write();
}

}  // namespace vernier
