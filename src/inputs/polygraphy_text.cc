#include "inputs/polygraphy_text.h"

#include <algorithm>

#include "util/text/number_text.h"

namespace vernier {
namespace {

// NumPy's print options: line width 75, abridged beyond 1000 elements to 3 at each end.
constexpr size_t kLineWidth = 75;
constexpr size_t kAbridgeAbove = 1000;
constexpr size_t kEdgeItems = 3;

std::string FormatDim(const Dim& dim, ShapeOrigin origin) {
  if (!dim.dynamic()) return std::to_string(dim.value);
  if (!dim.symbol.empty()) return QuotePython(dim.symbol);
  return origin == ShapeOrigin::kModel ? "None" : std::to_string(dim.value);
}

std::string JoinDims(std::span<const Dim> shape, ShapeOrigin origin) {
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += FormatDim(shape[i], origin);
  }
  return text;
}

}  // namespace

std::string FormatBoundedShape(std::span<const Dim> shape, ShapeOrigin origin) {
  return "BoundedShape([" + JoinDims(shape, origin) + "], min=None, max=None)";
}

std::string FormatUserShape(std::span<const Dim> shape) {
  return "(" + JoinDims(shape, ShapeOrigin::kUser) + (shape.size() == 1 ? ",)" : ")");
}

std::string FormatPythonInts(std::span<const int64_t> values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(values[i]);
  }
  return text + "]";
}

std::string FormatNumpyInts(std::span<const int64_t> values) {
  std::vector<std::string> items;
  const bool abridged = values.size() > kAbridgeAbove;
  for (size_t i = 0; i < values.size(); ++i) {
    if (abridged && i == kEdgeItems) i = values.size() - kEdgeItems;
    items.push_back(std::to_string(values[i]));
  }
  size_t width = 0;
  for (const std::string& item : items) width = std::max(width, item.size());
  for (std::string& item : items) item.insert(0, width - item.size(), ' ');
  if (abridged) items.insert(items.begin() + kEdgeItems, "...");

  std::string text;
  std::string line = "[";
  for (const std::string& item : items) {
    // Every line keeps room for a closing bracket.
    const size_t needed = line.size() + (line.size() > 1 ? 1 : 0) + item.size() + 1;
    if (line.size() > 1 && needed > kLineWidth) {
      text += line + "\n";
      line = " ";
    }
    if (line.size() > 1) line += ' ';
    line += item;
  }
  return text + line + "]";
}

std::string PolygraphyDTypeName(DType dtype) {
  if (dtype == DType::kFloat4E2M1) return "float4";
  std::string name(DTypeName(dtype));
  if (name.starts_with("float8_")) name.erase(name.find('_'), 1);
  return name;
}

}  // namespace vernier
