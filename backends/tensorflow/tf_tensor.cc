#include "tf_tensor.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <thread>

namespace vernier::tf {
namespace {

// What TF_NewTensor takes without copying.
constexpr std::align_val_t kAlignment{64};

size_t ElementCount(const vn_tensor& tensor) {
  size_t count = 1;
  for (uint32_t i = 0; i < tensor.rank; ++i) count *= static_cast<size_t>(tensor.shape[i]);
  return count;
}

// What TensorFlow gives back when it lets go of a tensor.
struct Fed {
  std::shared_ptr<std::atomic<int>> held;
  void* owned = nullptr;  // a copy
};

void LetGo(void*, size_t, void* argument) {
  const std::unique_ptr<Fed> fed(static_cast<Fed*>(argument));
  if (fed->owned != nullptr) ::operator delete(fed->owned, kAlignment);
  --*fed->held;
}

void FreeStrings(void* data, size_t size, void* argument) {
  const Api& api = *static_cast<const Api*>(argument);
  auto* strings = static_cast<TF_TString*>(data);
  for (size_t i = 0; i < size / sizeof(TF_TString); ++i) api.TF_StringDealloc(&strings[i]);
  ::operator delete(data, kAlignment);
}

TensorHandle StringTensor(const Api& api, const vn_tensor& tensor) {
  const size_t count = ElementCount(tensor);
  const auto* offsets = static_cast<const int64_t*>(tensor.data);
  const char* text = reinterpret_cast<const char*>(offsets + count + 1);
  const size_t size = count * sizeof(TF_TString);
  auto* strings =
      static_cast<TF_TString*>(::operator new(std::max(size, sizeof(TF_TString)), kAlignment));
  for (size_t i = 0; i < count; ++i) {
    api.TF_StringInit(&strings[i]);
    api.TF_StringCopy(&strings[i], text + offsets[i],
                      static_cast<size_t>(offsets[i + 1] - offsets[i]));
  }
  return {api.TF_NewTensor(ToTf(DType::kString), tensor.shape, static_cast<int>(tensor.rank),
                           strings, size, &FreeStrings, const_cast<Api*>(&api)),
          api.TF_DeleteTensor};
}

std::shared_ptr<std::vector<char>> ArrowFromStrings(const Api& api, const TF_TString* strings,
                                                    size_t count) {
  auto arrow = std::make_shared<std::vector<char>>((count + 1) * sizeof(int64_t));
  int64_t offset = 0;
  for (size_t i = 0; i < count; ++i) {
    const char* text = api.TF_StringGetDataPointer(&strings[i]);
    const size_t size = api.TF_StringGetSize(&strings[i]);
    arrow->insert(arrow->end(), text, text + size);
    offset += static_cast<int64_t>(size);
    std::memcpy(arrow->data() + (i + 1) * sizeof(offset), &offset, sizeof(offset));
  }
  return arrow;
}

void Own(sdk::OutputTensor& output, std::shared_ptr<std::vector<char>> bytes) {
  output.data = bytes->data();
  output.byte_size = bytes->size();
  output.keep_alive = std::move(bytes);
}

}  // namespace

Result<TensorHandle> FedTensors::Make(const Api& api, const vn_tensor& tensor, Memory memory) {
  const DType dtype = FromAbi(tensor.dtype_code, tensor.dtype_bits).value_or(DType::kUndefined);
  const TF_DataType type = ToTf(dtype);
  if (type == 0) {
    return InvalidArgument("input '" + std::string(sdk::View(tensor.name)) + "' is " +
                           std::string(DTypeName(dtype)) + ", which TensorFlow does not take");
  }
  if (dtype == DType::kString) return StringTensor(api, tensor);
  // TensorFlow wants an address, also of nothing.
  static char nothing[64];
  void* data = tensor.byte_size == 0 ? nothing : tensor.data;
  auto fed = std::make_unique<Fed>(Fed{held_});
  if (memory == Memory::kCopy && tensor.byte_size > 0) {
    fed->owned = ::operator new(tensor.byte_size, kAlignment);
    std::memcpy(fed->owned, data, tensor.byte_size);
    data = fed->owned;
  }
  ++*held_;
  return TensorHandle(api.TF_NewTensor(type, tensor.shape, static_cast<int>(tensor.rank), data,
                                       tensor.byte_size, &LetGo, fed.release()),
                      api.TF_DeleteTensor);
}

bool FedTensors::AllReturned(std::chrono::milliseconds patience) const {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (*held_ > 0) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

sdk::OutputTensor FromTensor(const Api& api, std::string name, TensorHandle tensor) {
  sdk::OutputTensor output;
  output.name = std::move(name);
  const TF_DataType type = api.TF_TensorType(tensor.get());
  size_t count = 1;
  for (int i = 0; i < api.TF_NumDims(tensor.get()); ++i) {
    output.shape.push_back(api.TF_Dim(tensor.get(), i));
    count *= static_cast<size_t>(output.shape.back());
  }
  output.dtype = FromTf(type);
  if (output.dtype == DType::kUndefined) {
    output.skipped = "an element type that is not supported: " + TfTypeName(type);
    return output;
  }
  output.data = api.TF_TensorData(tensor.get());
  output.byte_size = api.TF_TensorByteSize(tensor.get());
  if (output.dtype == DType::kString) {
    Own(output, ArrowFromStrings(api, static_cast<const TF_TString*>(output.data), count));
    return output;
  }
  output.keep_alive = std::shared_ptr<TF_Tensor>(tensor.release(), api.TF_DeleteTensor);
  return output;
}

sdk::OutputTensor CopyOf(const vn_tensor& tensor, std::string name) {
  sdk::OutputTensor output;
  output.name = std::move(name);
  output.dtype = FromAbi(tensor.dtype_code, tensor.dtype_bits).value_or(DType::kUndefined);
  output.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  const auto* bytes = static_cast<const char*>(tensor.data);
  Own(output, std::make_shared<std::vector<char>>(bytes, bytes + tensor.byte_size));
  return output;
}

void DetachFrom(const vn_tensor& input, sdk::OutputTensor& output) {
  const auto* begin = static_cast<const char*>(input.data);
  const auto* data = static_cast<const char*>(output.data);
  const std::less<const char*> before;
  if (output.byte_size == 0 || before(data, begin) || !before(data, begin + input.byte_size)) {
    return;
  }
  Own(output, std::make_shared<std::vector<char>>(data, data + output.byte_size));
}

}  // namespace vernier::tf
