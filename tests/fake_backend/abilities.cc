#include "abilities.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fake {
namespace {

struct Row {
  std::string_view words;  // what it is said for: one of these words; empty: always
  std::string_view name, type, help;
  std::string_view values = {};
  std::string_view neutral = {};
  uint32_t role = VN_ROLE_NONE;
  uint32_t means = VN_MEANS_NONE;
};

constexpr Row kRows[] = {
    {"", "behaviour", "words", "what to do wrong, and where"},
    {"neutral noise", "order", "int", "in which order it adds", "0 1 2", "2 1"},
    {"layers", "layer_times", "path", "a file for times", {}, {}, VN_ROLE_LAYER_TIMES},
    {"layers", "layer_names", "path", "a file for names", {}, {}, VN_ROLE_LAYER_NODES},
    {"alone", "alone", "switch", "whether it is alone", {}, {}, VN_ROLE_ALONE},
    {.words = "means",
     .name = "workers",
     .type = "int",
     .help = "threads",
     .means = VN_MEANS_THREADS},
    {.words = "means",
     .name = "sizes",
     .type = "word",
     .help = "shapes",
     .means = VN_MEANS_FEED_SHAPES},
    {.words = "means",
     .name = "method",
     .type = "name",
     .help = "a method",
     .means = VN_MEANS_RESET_METHOD},
    {.words = "means",
     .name = "place",
     .type = "path",
     .help = "a library",
     .means = VN_MEANS_LIBRARY},
    {.words = "means",
     .name = "words",
     .type = "word",
     .help = "where warnings go",
     .means = VN_MEANS_LOG},
};

bool IsSaid(const Behaviour& behaviour, std::string_view words) {
  if (words.empty()) return true;
  const size_t space = std::min(words.find(' '), words.size());
  if (!behaviour.Get(words.substr(0, space)).empty()) return true;
  return space < words.size() && IsSaid(behaviour, words.substr(space + 1));
}

vn_str Text(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

bool DescribeOption(const Behaviour& behaviour, size_t index, vn_option_info* out) {
  for (const Row& row : kRows) {
    if (!IsSaid(behaviour, row.words) || index-- > 0) continue;
    const vn_option_info full = {
        sizeof(vn_option_info), Text(row.name),    Text(row.type), Text(""), Text(row.help),
        Text(row.values),       Text(row.neutral), row.role,       row.means};
    const std::string_view lie = behaviour.LieAt({.stage = "query"});
    const size_t own = lie == "old_table"    ? offsetof(vn_option_info, values)
                       : lie == "table_of_7" ? offsetof(vn_option_info, means)
                                             : sizeof(full);
    const auto size = static_cast<uint32_t>(std::min<size_t>(out->struct_size, own));
    std::memcpy(out, &full, size);
    out->struct_size = size;
    return true;
  }
  return false;
}

bool IsOption(const Behaviour& behaviour, std::string_view key) {
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    return row.name == key && IsSaid(behaviour, row.words);
  });
}

bool LogMeaning(const Behaviour& behaviour, const vn_host& host, const vn_option& option) {
  const std::string key(option.key.data, option.key.size);
  const bool means = std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    return row.name == key && row.means != VN_MEANS_NONE && IsSaid(behaviour, row.words);
  });
  const std::string line = key + "=" + std::string(option.value.data, option.value.size);
  if (means) host.log(host.self, 20, Text(line));
  return means;
}

vn_str FormatsOf(const Behaviour& behaviour) {
  static std::string formats;
  formats = behaviour.Get("formats");
  std::replace(formats.begin(), formats.end(), ',', ' ');
  return Text(formats);
}

uint32_t TraitsOf(const Behaviour& behaviour) {
  return static_cast<uint32_t>(behaviour.Number("traits", 0));
}

void MakeOlder(std::string_view lie, vn_backend_api& api) {
  const bool of_3 = lie == "old_table";
  if (!of_3 && lie != "table_of_7") return;
  api.struct_size =
      of_3 ? offsetof(vn_backend_api, reference_rank) : offsetof(vn_backend_api, model_formats);
  api.abi_minor = of_3 ? 3 : 7;
}

std::string_view NeutralEnvironment(const Behaviour& behaviour, size_t index) {
  return index == 0 && IsSaid(behaviour, "neutral noise") ? "FAKE_ORDER=2" : "";
}

bool IsNeutral(std::string_view key) { return key == "order"; }

bool HasNeutralEnvironment() { return std::getenv("FAKE_ORDER") != nullptr; }

void WriteLayers(std::string_view key, std::string_view path) {
  if (!key.starts_with("layer_")) return;
  std::FILE* file = std::fopen(std::string(path).c_str(), "w");
  if (file == nullptr) return;
  std::fputs("0.001\tAdd\tfirst + second\n0.003\tMul\tthird\n", file);
  std::fclose(file);
}

}  // namespace fake
