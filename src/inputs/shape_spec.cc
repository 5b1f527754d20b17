#include "inputs/shape_spec.h"

#include <algorithm>

#include "inputs/polygraphy_text.h"
#include "util/text/cast_grammar.h"
#include "util/text/fnmatch.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

Status Refuse(const std::string& word, const std::string& why) {
  return InvalidArgument("expected NAME:[d0,d1,...] or NAME:[d0,d1,...]:DTYPE, got '" + word + "'" +
                         why);
}

// UTF-8 characters: what Python's iteration over a string gives.
std::vector<CastValue> Characters(std::string_view text) {
  std::vector<CastValue> characters;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    characters.push_back({std::string(text.substr(begin, end - begin))});
    begin = end;
  }
  return characters;
}

Result<Dim> ToDim(const std::string& word, const CastValue& element, Strictness strictness) {
  if (const auto* symbol = std::get_if<std::string>(&element.data)) return Dim{-1, *symbol};
  if (std::holds_alternative<WideInt>(element.data)) {
    const std::optional<int64_t> size = AsInt64(element);
    if (!size) return Refuse(word, ", which has a dimension beyond 64 bits");
    return Dim{*size, ""};
  }
  // Polygraphy takes whatever is no integer for a dynamic dimension.
  if (strictness == Strictness::kPolygraphy) return Dim{-1, FormatCastValue(element)};
  return Refuse(word, ": " + FormatCastValue(element) + " is no dimension");
}

// int64 of "ids:[1,8]:int64".
std::optional<DType> TypeAtEnd(const std::string& word) {
  const size_t colon = word.rfind(':');
  if (colon == std::string::npos || colon == 0 || word[colon - 1] != ']') return std::nullopt;
  return DTypeFromName(word.substr(colon + 1));
}

Result<ShapeSpec> ToSpec(const std::string& word, Strictness strictness) {
  if (const std::optional<DType> dtype = TypeAtEnd(word)) {
    VERNIER_ASSIGN_OR_RETURN(ShapeSpec spec, ToSpec(word.substr(0, word.rfind(':')), strictness));
    spec.dtype = dtype;
    return spec;
  }
  const KeyedWord split = SplitAtLast(word);
  if (strictness == Strictness::kStrict && HasOpenBracket(split.value)) {
    return Refuse(word, ", whose brackets do not close");
  }
  const CastValue value = ParseCastValue(split.value);
  std::vector<CastValue> elements;
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    if (ToLower(*text) == "auto") return ShapeSpec{split.key, std::nullopt};
    if (strictness == Strictness::kStrict) return Refuse(word, "");
    elements = Characters(*text);
  } else if (const auto* list = std::get_if<std::vector<CastValue>>(&value.data)) {
    elements = *list;
  } else {
    return Refuse(word, "; brackets are missing");
  }

  std::vector<Dim> shape;
  for (const CastValue& element : elements) {
    const auto* text = std::get_if<std::string>(&element.data);
    if (text != nullptr && text->empty()) continue;
    VERNIER_ASSIGN_OR_RETURN(Dim dim, ToDim(word, element, strictness));
    shape.push_back(std::move(dim));
  }
  return ShapeSpec{split.key, std::move(shape)};
}

}  // namespace

Result<std::vector<ShapeSpec>> ParseShapeSpecs(std::span<const std::string> words,
                                               Strictness strictness, std::string_view flag) {
  std::vector<ShapeSpec> specs;
  for (const std::string& word : words) {
    Result<ShapeSpec> spec = ToSpec(word, strictness);
    if (!spec.ok()) return std::move(spec).Annotate(std::string(flag)).status();
    specs.push_back(*std::move(spec));
  }
  return specs;
}

bool MeansInput(const std::string& key, const std::string& input) {
  return key == input || MatchesPattern(input, key);
}

const ShapeSpec* FirstShapeFor(std::span<const ShapeSpec> specs, const std::string& input) {
  const ShapeSpec* found = nullptr;
  for (auto spec = specs.begin(); spec != specs.end(); ++spec) {
    const auto same = [&](const ShapeSpec& other) { return other.name == spec->name; };
    const bool repeated = std::any_of(specs.begin(), spec, same);
    if (!repeated && MeansInput(spec->name, input)) found = &*spec;
  }
  return found;
}

std::vector<ShapeSpec> KeepLastShapes(std::span<const ShapeSpec> specs) {
  std::vector<ShapeSpec> last;
  for (const ShapeSpec& spec : specs) {
    const auto same = [&](const ShapeSpec& other) { return other.name == spec.name; };
    const auto earlier = std::find_if(last.begin(), last.end(), same);
    if (earlier != last.end()) {
      *earlier = spec;
    } else {
      last.push_back(spec);
    }
  }
  return last;
}

std::string FormatShapeSpecs(std::span<const ShapeSpec> specs) {
  std::string text = "{";
  for (size_t i = 0; i < specs.size(); ++i) {
    if (i > 0) text += ",\n ";
    const ShapeSpec& spec = specs[i];
    std::string meta = spec.dtype ? "dtype=" + std::string(DTypeName(*spec.dtype)) : "";
    if (spec.shape) meta += (meta.empty() ? "shape=" : ", shape=") + FormatUserShape(*spec.shape);
    if (!meta.empty()) meta = " [" + meta + "]";
    text += Trim(spec.name + meta);
  }
  return text + "}";
}

}  // namespace vernier
