#include "ov_strings.h"

#include <cstdint>
#include <cstring>
#include <string>

namespace vernier::ov {

// The data of an OpenVINO string tensor is an array of std::string. The C interface passes strings
// that end at their first NUL, and does not say how to read any; the library and this plug-in share
// the platform's C++ ABI.
void StringsFromArrow(const vn_tensor& t, size_t count, void* data) {
  const auto* offsets = static_cast<const int64_t*>(t.data);
  const char* text = reinterpret_cast<const char*>(offsets + count + 1);
  auto* strings = static_cast<std::string*>(data);
  for (size_t i = 0; i < count; ++i) {
    strings[i].assign(text + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i]));
  }
}

std::shared_ptr<std::vector<char>> ArrowFromStrings(const void* data, size_t count) {
  const auto* strings = static_cast<const std::string*>(data);
  auto arrow = std::make_shared<std::vector<char>>((count + 1) * sizeof(int64_t));
  int64_t offset = 0;
  for (size_t i = 0; i < count; ++i) {
    arrow->insert(arrow->end(), strings[i].begin(), strings[i].end());
    offset += static_cast<int64_t>(strings[i].size());
    std::memcpy(arrow->data() + (i + 1) * sizeof(offset), &offset, sizeof(offset));
  }
  return arrow;
}

}  // namespace vernier::ov
