// Compiles only where the plug-in's declarations are those of TensorFlow's own header.
#include <cstddef>
#include <type_traits>

#include <tensorflow/c/c_api.h>

#include "tf_declarations.h"

namespace {

namespace ours = vernier::tf;

// Structs and enumerations are of other types there: they are compared by what they are made of.

template <typename Ours, typename Theirs>
constexpr bool kSameArgument = (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) ||
                               (sizeof(Ours) == sizeof(Theirs) &&
                                std::is_class_v<Ours> == std::is_class_v<Theirs>);

template <typename Ours, typename Theirs>
struct SameFunction : std::false_type {};
template <typename R, typename... Args, typename S, typename... Others>
struct SameFunction<R (*)(Args...), S (*)(Others...)> {
  static constexpr bool Compare() {
    if constexpr (std::is_void_v<R> || std::is_void_v<S>) {
      if (!std::is_void_v<R> || !std::is_void_v<S>) return false;
    } else if (!kSameArgument<R, S>) {
      return false;
    }
    if constexpr (sizeof...(Args) == sizeof...(Others)) {
      return (kSameArgument<Args, Others> && ...);
    }
    return false;
  }
  static constexpr bool value = Compare();
};

#define VERNIER_TF_CHECK(name) \
  static_assert(SameFunction<decltype(&ours::name), decltype(&::name)>::value, #name);
VERNIER_TF_FUNCTIONS(VERNIER_TF_CHECK)
#undef VERNIER_TF_CHECK

static_assert(sizeof(ours::TF_Buffer) == sizeof(TF_Buffer));
static_assert(offsetof(ours::TF_Buffer, length) == offsetof(TF_Buffer, length));
static_assert(sizeof(ours::TF_Output) == sizeof(TF_Output));
static_assert(offsetof(ours::TF_Output, index) == offsetof(TF_Output, index));
static_assert(sizeof(ours::TF_TString) == sizeof(TF_TString));

}  // namespace
