#include <cmath>
#include <set>
#include <utility>

#include "images/preprocess.h"
#include "util/text/number_text.h"
#include "util/text/split_text.h"

namespace vernier {
namespace {

constexpr int64_t kLongestSide = 65535;

Status NoSuchWord(std::string_view word, std::string_view why) {
  return InvalidArgument(
      "--preprocess: expected words of resize=N, resize=HxW, crop, crop=N, crop=HxW, scale=X, "
      "mean=X[,X,X], std=X[,X,X], layout=nchw, layout=nhwc, rgb, bgr, gray, got '" +
      std::string(word) + "'" + std::string(why));
}

// "0.5" or "1/255".
std::optional<double> ParseFraction(std::string_view text) {
  const size_t slash = text.find('/');
  std::optional<double> number = ParseDouble(text.substr(0, slash));
  if (number && slash != std::string_view::npos) {
    const std::optional<double> divisor = ParseDouble(text.substr(slash + 1));
    number = divisor && *divisor != 0 ? std::optional(*number / *divisor) : std::nullopt;
  }
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<int64_t> ParseSide(std::string_view text) {
  const std::optional<int64_t> side = ParseInt(text);
  return side && *side >= 1 && *side <= kLongestSide ? side : std::nullopt;
}

std::optional<ImageSize> ParseHeightAndWidth(std::string_view text) {
  const size_t cross = text.find('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> height = ParseSide(text.substr(0, cross));
  const std::optional<int64_t> width = ParseSide(text.substr(cross + 1));
  return height && width ? std::optional(ImageSize{*height, *width}) : std::nullopt;
}

class PreprocessParser {
 public:
  Result<PreprocessWords> Parse(std::string_view text) {
    for (const std::string& part : SplitAt(text, ',')) {
      const std::string_view word = Trim(part);
      // A number goes on with the list before it.
      const std::optional<double> number = ParseFraction(word);
      if (number && list_ != nullptr && list_->size() < 3) {
        if (!AddNumber(*number)) return NoSuchWord(word, ", and nothing is divided by 0");
        continue;
      }
      VERNIER_TRY(Take(word));
    }
    if (!any_) return NoSuchWord(text, "");
    for (const auto* list : {&words_.mean, &words_.std_dev}) {
      if (list->size() != 2) continue;
      return NoSuchWord(text, ", where mean and std have one number or three");
    }
    return std::move(words_);
  }

 private:
  Status Take(std::string_view word) {
    any_ = true;
    list_ = nullptr;
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const bool has_value = equals != std::string_view::npos;
    const std::string_view value = has_value ? word.substr(equals + 1) : std::string_view();
    const bool is_color = name == "rgb" || name == "bgr" || name == "gray";
    if (!taken_.emplace(is_color ? "rgb" : name).second) {
      return NoSuchWord(word, ", which is said before");
    }
    if (name == "resize" && words_.crop) {
      return NoSuchWord(word, " after crop: images are resized first, so write it first");
    }
    const bool known = has_value ? TakeValue(name, value) : TakeSwitch(name);
    return known ? Status() : NoSuchWord(word, "");
  }

  bool TakeSwitch(std::string_view name) {
    if (name == "crop") return words_.crop = true;
    if (name == "rgb") words_.color = ImageColor::kRgb;
    if (name == "bgr") words_.color = ImageColor::kBgr;
    if (name == "gray") words_.color = ImageColor::kGray;
    return name == "rgb" || name == "bgr" || name == "gray";
  }

  bool TakeValue(std::string_view name, std::string_view value) {
    if (name == "resize") {
      words_.resize = ParseHeightAndWidth(value);
      words_.shorter_side = words_.resize ? 0 : ParseSide(value).value_or(0);
      return words_.resize || words_.shorter_side > 0;
    }
    if (name == "crop") {
      words_.crop = true;
      words_.crop_size = ParseHeightAndWidth(value);
      const std::optional<int64_t> side = ParseSide(value);
      if (!words_.crop_size && side) words_.crop_size = ImageSize{*side, *side};
      return words_.crop_size.has_value();
    }
    if (name == "layout") {
      if (value == "nchw") words_.layout = ImageLayout::kNchw;
      if (value == "nhwc") words_.layout = ImageLayout::kNhwc;
      return words_.layout != ImageLayout::kUnsaid;
    }
    return TakeNumber(name, value);
  }

  bool TakeNumber(std::string_view name, std::string_view value) {
    const std::optional<double> number = ParseFraction(value);
    if (!number) return false;
    if (name == "scale") {
      words_.scale = *number;
      return *number != 0;
    }
    list_ = name == "mean" ? &words_.mean : name == "std" ? &words_.std_dev : nullptr;
    return list_ != nullptr && AddNumber(*number);
  }

  bool AddNumber(double number) {
    if (list_ == &words_.std_dev && number <= 0) return false;
    list_->push_back(number);
    return true;
  }

  PreprocessWords words_;
  std::vector<double>* list_ = nullptr;  // that a number would be added to
  std::set<std::string, std::less<>> taken_;
  bool any_ = false;
};

}  // namespace

Result<PreprocessWords> ParsePreprocess(std::string_view words) {
  return PreprocessParser().Parse(words);
}

}  // namespace vernier
