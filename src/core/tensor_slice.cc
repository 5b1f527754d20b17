#include "core/tensor_slice.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "core/shape_match.h"

namespace vernier {
namespace {

// NumPy has no more dimensions than this.
constexpr size_t kMostSliceItems = 64;

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(WithoutBlanks(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Status BadSliceItem(std::string_view item) {
  return InvalidArgument("expected an index, START:STOP, START:STOP:STEP, ... or None, got '" +
                         std::string(item) + "'");
}

Result<SliceItem> ParseRange(std::string_view text) {
  const std::vector<std::string_view> parts = SplitAt(text, ':');
  SliceItem item;
  if (parts.size() > 3) return BadSliceItem(text);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    const std::optional<int64_t> number = WholeNumber(parts[i]);
    if (!number) return BadSliceItem(text);
    if (i == 0) item.start = *number;
    if (i == 1) item.stop = *number;
    if (i == 2) item.step = *number;
  }
  // The smallest integer has no counterpart of the other sign.
  if (item.step == 0 || item.step == INT64_MIN) {
    return InvalidArgument("the step of a slice must not be 0, got '" + std::string(text) + "'");
  }
  return item;
}

Result<SliceItem> ParseSliceItem(std::string_view text) {
  SliceItem item;
  if (text == "...") {
    item.kind = SliceItem::Kind::kEllipsis;
  } else if (text == "None" || text == "newaxis") {
    item.kind = SliceItem::Kind::kNewAxis;
  } else if (text.find(':') != std::string_view::npos) {
    return ParseRange(text);
  } else if (const std::optional<int64_t> index = WholeNumber(text)) {
    item.kind = SliceItem::Kind::kIndex;
    item.index = *index;
  } else {
    return BadSliceItem(text);
  }
  return item;
}

// One axis of the result.
struct TakenAxis {
  int64_t size = 1;
  int64_t stride = 0;  // in elements of the original
};

struct TakenPlaces {
  int64_t first = 0;  // the element that the result begins with
  std::vector<TakenAxis> axes;
};

// As Python's slice.indices().
TakenAxis TakeRange(const SliceItem& item, int64_t size, int64_t stride, int64_t& first) {
  const bool forward = item.step > 0;
  const int64_t low = forward ? 0 : -1;
  const int64_t high = forward ? size : size - 1;
  const auto place = [&](int64_t given) {
    if (given < 0) given = given < -size ? low : given + size;
    return std::clamp(given, low, high);
  };
  const int64_t start = item.start ? place(*item.start) : forward ? low : high;
  const int64_t stop = item.stop ? place(*item.stop) : forward ? high : low;
  const int64_t span = forward ? stop - start : start - stop;
  const int64_t step = forward ? item.step : -item.step;
  const int64_t count = span <= 0 ? 0 : (span - 1) / step + 1;
  if (count > 0) first += start * stride;
  // A step beyond the axis is never taken twice.
  return {count, count > 1 ? item.step * stride : 0};
}

size_t AxesTakenBy(const std::vector<SliceItem>& slice) {
  return static_cast<size_t>(std::count_if(slice.begin(), slice.end(), [](const SliceItem& item) {
    return item.kind == SliceItem::Kind::kIndex || item.kind == SliceItem::Kind::kRange;
  }));
}

Result<TakenPlaces> PlanSlice(const Dims& dims, const std::vector<SliceItem>& slice) {
  const size_t named = AxesTakenBy(slice);
  if (named > dims.size()) {
    return InvalidArgument("the slice has " + std::to_string(named) +
                           " entries for the axes of shape " + FormatDims(dims));
  }
  // The other dimensions of an empty tensor may be too large to multiply.
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  std::vector<int64_t> strides(dims.size(), empty ? 0 : 1);
  for (size_t axis = dims.size(); axis-- > 1;) {
    if (!empty) strides[axis - 1] = strides[axis] * dims[axis];
  }
  TakenPlaces places;
  size_t axis = 0;
  const auto take_whole = [&](size_t count) {
    for (; count > 0; --count, ++axis) places.axes.push_back({dims[axis], strides[axis]});
  };
  for (const SliceItem& item : slice) {
    if (item.kind == SliceItem::Kind::kNewAxis) {
      places.axes.push_back({});
    } else if (item.kind == SliceItem::Kind::kEllipsis) {
      take_whole(dims.size() - named);
    } else if (item.kind == SliceItem::Kind::kRange) {
      places.axes.push_back(TakeRange(item, dims[axis], strides[axis], places.first));
      ++axis;
    } else {
      const int64_t index = item.index < 0 ? item.index + dims[axis] : item.index;
      if (index < 0 || index >= dims[axis]) {
        return InvalidArgument("index " + std::to_string(item.index) +
                               " is out of range for axis " + std::to_string(axis) + " of shape " +
                               FormatDims(dims));
      }
      places.first += index * strides[axis];
      ++axis;
    }
  }
  take_whole(dims.size() - axis);
  return places;
}

// Visits the elements of the result in its order, by their index in the original.
template <typename Visit>
void ForEachTaken(const TakenPlaces& places, int64_t count, const Visit& visit) {
  std::vector<int64_t> at(places.axes.size(), 0);
  int64_t from = places.first;
  for (int64_t i = 0; i < count; ++i) {
    visit(i, from);
    for (size_t axis = at.size(); axis-- > 0;) {
      from += places.axes[axis].stride;
      if (++at[axis] < places.axes[axis].size) break;
      from -= places.axes[axis].stride * places.axes[axis].size;
      at[axis] = 0;
    }
  }
}

unsigned NibbleAt(std::span<const std::byte> bytes, int64_t index) {
  const auto byte = std::to_integer<unsigned>(bytes[static_cast<size_t>(index / 2)]);
  return (byte >> (4 * (index % 2))) & 0xfu;
}

Result<Tensor> CopyTaken(const Tensor& tensor, const TakenPlaces& places) {
  Dims dims;
  for (const TakenAxis& axis : places.axes) dims.push_back(axis.size);
  const int64_t count = ElementCount(dims).value_or(0);
  if (tensor.dtype() == DType::kString) {
    std::vector<std::string> values;
    ForEachTaken(places, count,
                 [&](int64_t, int64_t from) { values.emplace_back(tensor.StringAt(from)); });
    return Tensor::FromStrings(std::move(dims), values);
  }
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(tensor.dtype(), std::move(dims)));
  const int bits = BitsOf(tensor.dtype());
  const std::span<std::byte> to = buffer.bytes();
  const std::span<const std::byte> bytes = tensor.bytes();
  if (bits == 4) {
    ForEachTaken(places, count, [&](int64_t i, int64_t from) {
      std::byte& out = to[static_cast<size_t>(i / 2)];
      const unsigned nibble = NibbleAt(bytes, from);
      out = i % 2 == 0 ? std::byte(nibble) : out | std::byte(nibble << 4);
    });
  } else {
    const auto size = static_cast<size_t>(bits / 8);
    ForEachTaken(places, count, [&](int64_t i, int64_t from) {
      std::memcpy(to.data() + static_cast<size_t>(i) * size,
                  bytes.data() + static_cast<size_t>(from) * size, size);
    });
  }
  return std::move(buffer).Freeze();
}

bool IsPermutation(const std::vector<size_t>& axes) {
  std::vector<bool> seen(axes.size(), false);
  for (const size_t axis : axes) {
    if (axis >= axes.size() || seen[axis]) return false;
    seen[axis] = true;
  }
  return true;
}

}  // namespace

Result<std::vector<SliceItem>> ParseSlice(std::string_view text) {
  std::vector<SliceItem> slice;
  for (const std::string_view part : SplitAt(text, ',')) {
    VERNIER_ASSIGN_OR_RETURN(slice.emplace_back(), ParseSliceItem(part));
  }
  const auto ellipses = std::count_if(slice.begin(), slice.end(), [](const SliceItem& item) {
    return item.kind == SliceItem::Kind::kEllipsis;
  });
  if (ellipses > 1) {
    return InvalidArgument("a slice has at most one '...', got '" + std::string(text) + "'");
  }
  if (slice.size() > kMostSliceItems) return InvalidArgument("the slice has more than 64 entries");
  return slice;
}

Result<std::vector<size_t>> ParseAxes(std::string_view text) {
  std::vector<size_t> axes;
  for (const std::string_view part : SplitAt(text, ',')) {
    const std::optional<int64_t> axis = WholeNumber(part);
    // What is out of range is no permutation.
    axes.push_back(axis && *axis >= 0 ? static_cast<size_t>(*axis) : SIZE_MAX);
  }
  if (IsPermutation(axes)) return axes;
  return InvalidArgument("expected the axes from 0 on in another order, as in 0,3,1,2, got '" +
                         std::string(text) + "'");
}

std::string FormatAxes(const std::vector<size_t>& axes) {
  std::string text;
  for (const size_t axis : axes) text += (text.empty() ? "" : ",") + std::to_string(axis);
  return text;
}

Result<Tensor> TakeForm(const Tensor& tensor, const TensorForm& form) {
  Tensor taken = tensor;
  if (!form.slice.empty()) {
    VERNIER_ASSIGN_OR_RETURN(const TakenPlaces places, PlanSlice(tensor.dims(), form.slice));
    VERNIER_ASSIGN_OR_RETURN(taken, CopyTaken(tensor, places));
  }
  if (form.axes.empty()) return taken;
  if (form.axes.size() != taken.dims().size()) {
    return InvalidArgument("the axes " + FormatAxes(form.axes) + " are not those of shape " +
                           FormatDims(taken.dims()));
  }
  return Transpose(taken, form.axes);
}

}  // namespace vernier
