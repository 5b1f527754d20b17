// One call of TensorRT: made and written down, or looked up. Included by what make_proxies.py
// writes.
#pragma once

#include <cinttypes>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace vernier::trace {

template <typename T>
inline constexpr bool kIsTraced = !kNameOf<std::remove_cv_t<T>>.empty();

/// Of a file's content: whether there is any.
struct ByteCount {
  size_t bytes;
};

/// Objects by their identifiers and by what they stand for.
class Objects {
 public:
  template <typename I>
  I* Find(const std::string& id) {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : static_cast<I*>(found->second);
  }

  /// The object that stands for a real one; made when it is met for the first time.
  template <typename I>
  I* For(I* real) {
    if (real == nullptr) return nullptr;
    void*& known = by_real_[{real, kNameOf<std::remove_cv_t<I>>}];
    if (known == nullptr) known = Make<I>(NextId<I>(), real);
    return static_cast<I*>(known);
  }

  template <typename I>
  I* Make(const std::string& id, I* real) {
    I* object = new Traced<I>(id, real);
    by_id_[id] = object;
    return object;
  }

  void Forget(const void* real) {
    std::erase_if(by_real_, [real](const auto& entry) { return entry.first.first == real; });
  }

 private:
  template <typename I>
  std::string NextId() {
    const std::string name(kNameOf<I>);
    return name + "#" + std::to_string(++counts_[name]);
  }

  std::map<std::string, void*> by_id_;
  // With the class: an address may come again as something else's.
  std::map<std::pair<const void*, std::string_view>, void*> by_real_;
  std::map<std::string, int> counts_;
};

Objects& TheObjects();

/// A real object that TensorRT's user deletes: its address may come again.
template <typename I>
void Forget(const I*, const void* real) {
  const std::lock_guard lock(TheTape().mutex());
  TheObjects().Forget(real);
}

/// Our memory for outputs is asked for through these.
nvinfer1::IOutputAllocator* RealAllocator(nvinfer1::IOutputAllocator* allocator);
void KeepAllocator(const char* tensor, nvinfer1::IOutputAllocator* allocator);
void CallBack(const std::string& line);

std::string QuotedText(const char* text);
const char* UnquotedText(const std::string& text);
std::string CalibratorText(nvinfer1::IInt8Calibrator* calibrator);
nvinfer1::Dims DimsFrom(const std::string& text);

/// Zeros: what a replayed engine's bytes are.
void* ReplayedBytes();

template <typename T>
inline constexpr bool kPointsToTraced =
    std::is_pointer_v<T>&& kIsTraced<std::remove_pointer_t<std::remove_const_t<T>>>;

template <typename T>
using RealArgument = std::conditional_t<
    kIsTraced<T>, std::remove_const_t<T>&,
    std::conditional_t<kPointsToTraced<T>, std::remove_cv_t<std::remove_pointer_t<T>>*, T&>>;

/// An argument as the real library takes it: the real object of ours, all else as it is.
template <typename T>
RealArgument<T> Real(T& argument) {
  using Argument = std::remove_const_t<T>;
  using Pointee = std::remove_cv_t<std::remove_pointer_t<Argument>>;
  if constexpr (kIsTraced<T>) {
    return *static_cast<Traced<Argument>&>(const_cast<Argument&>(argument)).real();
  } else if constexpr (kPointsToTraced<T>) {
    auto* object = static_cast<Traced<Pointee>*>(const_cast<Pointee*>(argument));
    return object == nullptr ? nullptr : object->real();
  } else {
    return argument;
  }
}

template <typename I>
const std::string& IdOf(const I& object) {
  return static_cast<const Traced<std::remove_const_t<I>>&>(object).id();
}

template <typename Extent>
std::string ListText(const Extent* values, size_t count) {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::to_string(values[i]);
  return text + "]";
}

template <typename P>
std::string PointerText(P* pointer) {
  using Object = std::remove_cv_t<P>;
  if (pointer == nullptr) return "null";
  if constexpr (kIsTraced<Object>) {
    return IdOf(*pointer);
  } else if constexpr (std::is_same_v<Object, char>) {
    return QuotedText(pointer);
  } else if constexpr (std::is_same_v<Object, nvinfer1::IInt8Calibrator>) {
    return CalibratorText(pointer);
  } else {
    return "given";
  }
}

template <typename E>
std::string EnumText(E value) {
  if constexpr (requires { NamesOf(value); }) {
    for (const auto& [name, known] : NamesOf(value)) {
      if (known == value) return std::string(name);
    }
  }
  return std::to_string(static_cast<int64_t>(value));
}

template <typename T>
std::string Text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return EnumText(value);
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(value));
    return text;
  } else if constexpr (std::is_same_v<T, ByteCount>) {
    return value.bytes == 0 ? "0 bytes" : "bytes";
  } else if constexpr (std::is_same_v<T, std::span<const int32_t>>) {
    return ListText(value.data(), value.size());
  } else if constexpr (std::is_base_of_v<nvinfer1::Dims, T>) {
    return ListText(value.d, static_cast<size_t>(std::max(value.nbDims, 0)));
  } else if constexpr (std::is_pointer_v<T>) {
    return PointerText(value);
  } else if constexpr (kIsTraced<T>) {
    return IdOf(value);
  } else {
    return "?";
  }
}

template <typename R>
R EnumFrom(const std::string& text) {
  if constexpr (requires(R value) { NamesOf(value); }) {
    for (const auto& [name, known] : NamesOf(R{})) {
      if (name == text) return known;
    }
  }
  return static_cast<R>(std::strtoll(text.c_str(), nullptr, 10));
}

template <typename P>
P* PointerFrom(const std::string& text) {
  using Object = std::remove_cv_t<P>;
  if (text == "null") return nullptr;
  if constexpr (kIsTraced<Object>) {
    Object* known = TheObjects().Find<Object>(text);
    return known != nullptr ? known : TheObjects().Make<Object>(text, nullptr);
  } else if constexpr (std::is_same_v<Object, char>) {
    return UnquotedText(text);
  } else if constexpr (std::is_void_v<Object>) {
    return ReplayedBytes();
  } else {
    return nullptr;
  }
}

template <typename R>
R ResultFrom(const std::string& text) {
  if constexpr (std::is_same_v<R, bool>) {
    return text == "true";
  } else if constexpr (std::is_enum_v<R>) {
    return EnumFrom<R>(text);
  } else if constexpr (std::is_integral_v<R>) {
    return static_cast<R>(std::strtoll(text.c_str(), nullptr, 10));
  } else if constexpr (std::is_floating_point_v<R>) {
    return static_cast<R>(std::strtod(text.c_str(), nullptr));
  } else if constexpr (std::is_pointer_v<R>) {
    return PointerFrom<std::remove_pointer_t<R>>(text);
  } else if constexpr (std::is_same_v<R, nvinfer1::Dims>) {
    return DimsFrom(text);
  } else {
    return R{};
  }
}

// What a real call returned, as an object of ours.
template <typename R>
R Ours(R result) {
  using Object = std::remove_cv_t<std::remove_pointer_t<R>>;
  if constexpr (std::is_pointer_v<R> && kIsTraced<Object>) {
    return TheObjects().For<Object>(const_cast<Object*>(result));
  } else {
    return result;
  }
}

template <typename R, typename RealCall, typename... Arguments>
R Call(const std::string& object, const char* function, Kind declared, RealCall real,
       const Arguments&... arguments) {
  Tape& tape = TheTape();
  const std::lock_guard lock(tape.mutex());
  std::string call = object + (object.empty() ? "" : ".") + function + "(";
  size_t count = 0;
  ((call += (count++ == 0 ? "" : ", ") + Text(arguments)), ...);
  call += ")";
  const Kind kind = tape.KindOf(function, declared, call);
  if (tape.replaying()) {
    const std::string result = tape.LookUp(kind, call);
    for (const std::string& line : tape.TakeBacks()) CallBack(line);
    if constexpr (!std::is_void_v<R>) return ResultFrom<R>(result);
  } else if constexpr (std::is_void_v<R>) {
    real();
    tape.Write(kind == Kind::kCall ? "call" : "ask", call, "");
  } else {
    const R result = Ours<R>(real());
    tape.Write(kind == Kind::kCall ? "call" : "ask", call, Text(result));
    return result;
  }
}

}  // namespace vernier::trace
