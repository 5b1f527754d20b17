// Part of backend_sdk.hpp: the options of a plug-in, as it lists them and as it is given them, and
// what else a backend class declares.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/backend_abi.h"

namespace vernier::sdk {

/// Texts of the C boundary, which are not terminated and may be empty with a null pointer. Neither
/// function copies: the result is valid as long as its argument's characters.
inline std::string_view View(vn_str text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}
inline vn_str Str(std::string_view text) { return {text.data(), text.size()}; }

/// What the host may know of an option beside its name and type; see vn_option_info.
struct OptionFacts {
  std::string_view values = {};    ///< all that it takes, separated by spaces
  std::string_view neutral = {};   ///< those that change how, not what; that of most effect first
  uint32_t role = VN_ROLE_NONE;    ///< what the host may use it for by itself
  uint32_t means = VN_MEANS_NONE;  ///< which of the host's own options it is another name of
};

/// A row of a backend's OptionTable(): `type` is a word for what it takes (path, int, word, list,
/// switch), `fallback` what holds where the option is not given, empty for nothing. All texts must
/// be literals.
inline vn_option_info OptionRow(std::string_view name, std::string_view type,
                                std::string_view fallback, std::string_view help,
                                const OptionFacts& facts = {}) {
  return {sizeof(vn_option_info), Str(name),          Str(type),  Str(fallback), Str(help),
          Str(facts.values),      Str(facts.neutral), facts.role, facts.means};
}

/// Answers option_at with a row: as much of it as the host, which may be an older one, has room
/// for.
inline void FillOption(const vn_option_info& row, vn_option_info* out) {
  const uint32_t size = std::min(row.struct_size, out->struct_size);
  std::memcpy(out, &row, size);
  out->struct_size = size;
}

/// Options by key; the last occurrence wins. Values are borrowed from the host for the call: copy
/// what a session needs later.
class Options {
 public:
  Options(const vn_option* options, size_t count) : options_(options, count) {}

  /// The value of a key, `fallback` where it was not given. Not checked: parse it, and return
  /// kInvalidArgument with the key in the message.
  std::string_view Get(std::string_view key, std::string_view fallback = {}) const {
    std::string_view value = fallback;
    for (const vn_option& option : options_) {
      if (View(option.key) == key) value = View(option.value);
    }
    return value;
  }

  /// All values of a key, in order.
  std::vector<std::string> GetAll(std::string_view key) const {
    std::vector<std::string> values;
    for (const vn_option& option : options_) {
      if (View(option.key) == key) values.emplace_back(View(option.value));
    }
    return values;
  }

 private:
  std::span<const vn_option> options_;
};

namespace internal {

/// What a backend class declares, or what holds where it does not.
template <typename Backend>
constexpr uint32_t ReferenceRankOf() {
  if constexpr (requires { Backend::kReferenceRank; }) return Backend::kReferenceRank;
  return 0;
}

template <typename Backend>
constexpr std::string_view ModelFormatsOf() {
  if constexpr (requires { Backend::kModelFormats; }) return Backend::kModelFormats;
  return {};
}

template <typename Backend>
constexpr uint32_t TraitsOf() {
  if constexpr (requires { Backend::kTraits; }) return Backend::kTraits;
  return 0;
}

template <typename Backend>
std::span<const std::string_view> NeutralEnvironmentsOf() {
  if constexpr (requires { Backend::NeutralEnvironments(); }) return Backend::NeutralEnvironments();
  return {};
}

}  // namespace internal
}  // namespace vernier::sdk

/// The name, kModelFormats and kTraits of a backend class. In vernier's own tree the call stands in
/// the file abilities.def of the backend's folder: what it says has to be known before any plug-in
/// is loaded, too. For that the meanings of options follow which are asked for by then.
#define VERNIER_BACKEND_ABILITIES(name, formats, traits, ...) \
  static constexpr std::string_view kName = name;             \
  static constexpr std::string_view kModelFormats = formats;  \
  static constexpr uint32_t kTraits = traits;
