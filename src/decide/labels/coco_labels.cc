#include "decide/labels/coco_labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "io/json/json_stream.h"
#include "util/files/input_file.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

/// As it stands in the file. What is absent is nullopt.
struct CocoAnnotation {
  std::optional<int64_t> id;
  std::optional<int64_t> image;
  std::optional<int64_t> category;
  std::optional<std::array<double, 4>> box;
  std::optional<double> area;
  bool crowd = false;
};

/// "annotation 7": the element that is being read.
struct CocoPlace {
  std::string_view what;
  size_t index = 0;

  std::string text() const { return std::string(what) + " " + std::to_string(index); }
};

// "'x'", and "a list" of values whose text says nothing.
std::string ShownToken(const JsonStream& stream) {
  if (stream.is(JsonToken::kBeginArray)) return "a list";
  if (stream.is(JsonToken::kBeginObject)) return "an object";
  constexpr size_t kMostShown = 40;
  const std::string_view raw = stream.raw();
  return "'" + std::string(raw.substr(0, kMostShown)) + (raw.size() > kMostShown ? "…'" : "'");
}

Status Unexpected(const CocoPlace& place, std::string_view member, std::string_view wanted,
                  const JsonStream& stream) {
  return Malformed(place.text() + ": " + std::string(member) + ": expected " + std::string(wanted) +
                   ", got " + ShownToken(stream));
}

Result<int64_t> ReadWhole(const CocoPlace& place, std::string_view member,
                          const JsonStream& stream) {
  const std::optional<int64_t> value =
      stream.is(JsonToken::kNumber) ? ParseInt(stream.raw()) : std::nullopt;
  if (!value) return Unexpected(place, member, "an integer", stream);
  return *value;
}

Result<double> ReadSize(const CocoPlace& place, std::string_view member, const JsonStream& stream) {
  const double value = stream.is(JsonToken::kNumber) ? JsonNumberValue(stream.raw()) : -1;
  if (std::isfinite(value) && value >= 0) return value;
  return Unexpected(place, member, "a number >= 0", stream);
}

Result<std::array<double, 4>> ReadBox(const CocoPlace& place, JsonStream& stream) {
  if (!stream.is(JsonToken::kBeginArray)) {
    return Unexpected(place, "bbox", "[x, y, width, height]", stream);
  }
  std::array<double, 4> box{};
  size_t count = 0;
  VERNIER_TRY(stream.ForEachElement([&]() -> Status {
    const double value =
        stream.is(JsonToken::kNumber) ? JsonNumberValue(stream.raw()) : std::nan("");
    if (!std::isfinite(value)) return Unexpected(place, "bbox", "four numbers", stream);
    if (count >= 2 && value < 0) {
      return Unexpected(place, "bbox", "a width and a height >= 0", stream);
    }
    if (count < box.size()) box[count] = value;
    ++count;
    return {};
  }));
  if (count == box.size()) return box;
  return Malformed(place.text() + ": bbox: expected [x, y, width, height], got " +
                   std::to_string(count) + " numbers");
}

// What is beyond is no place in an image, and might not fit where pixels are counted.
constexpr double kMostPixels = 0x1p31;

Status CheckSides(const CocoImage& image) {
  for (const auto& [member, size] :
       {std::pair("width", image.width), std::pair("height", image.height)}) {
    if (std::trunc(size) == size && size <= kMostPixels) continue;
    return Malformed("image id " + std::to_string(image.id) + ": " + member +
                     ": expected a whole number of pixels, at most 2147483648, got " +
                     FormatG(size, 6));
  }
  return {};
}

Status CheckBox(const CocoPlace& place, const CocoAnnotation& annotation) {
  for (const double value : *annotation.box) {
    if (std::abs(value) <= kMostPixels) continue;
    return Malformed(place.text() + " of image id " + std::to_string(*annotation.image) +
                     ": bbox: expected pixels, at most 2147483648, got " + FormatG(value, 6));
  }
  return {};
}

Result<bool> ReadFlag(const CocoPlace& place, const JsonStream& stream) {
  if (stream.is(JsonToken::kTrue) || stream.raw() == "1") return true;
  if (stream.is(JsonToken::kFalse) || stream.raw() == "0") return false;
  return Unexpected(place, "iscrowd", "0 or 1", stream);
}

/// Reads the three lists in whatever order they stand.
class CocoReader {
 public:
  explicit CocoReader(JsonText text) : stream_(text, "JSON") {}

  Result<CocoLabels> Read() {
    VERNIER_TRY(stream_.Advance());
    if (!stream_.is(JsonToken::kBeginObject)) {
      return Malformed("expected an object with images, annotations and categories");
    }
    VERNIER_TRY(stream_.ForEachMember([&](const std::string& key) { return ReadList(key); }));
    VERNIER_TRY(stream_.Advance());  // to the end: nothing may follow
    for (const auto& [name, seen] :
         {std::pair("images", has_images_), std::pair("annotations", has_annotations_),
          std::pair("categories", has_categories_)}) {
      if (!seen) return Malformed("there is no list '" + std::string(name) + "'");
    }
    VERNIER_TRY(SortById("image", labels_.images));
    VERNIER_TRY(SortById("category", labels_.categories));
    VERNIER_TRY(CheckAnnotationIds());
    for (const CocoAnnotation& annotation : annotations_) Place(annotation);
    return std::move(labels_);
  }

 private:
  using ReadMember = std::function<Status(const CocoPlace& place, const std::string& key)>;

  Status ReadList(const std::string& key) {
    if (key == "images") return ReadImages();
    if (key == "annotations") return ReadAnnotations();
    if (key == "categories") return ReadCategories();
    return stream_.Skip();
  }

  // Of a list of objects: `begin` before each, `read` at each member, `end` after each.
  Status ReadObjects(CocoPlace place, const std::function<void()>& begin, const ReadMember& read,
                     const std::function<Status(const CocoPlace& place)>& end) {
    if (!stream_.is(JsonToken::kBeginArray)) {
      return Malformed("expected a list of objects for each " + std::string(place.what));
    }
    return stream_.ForEachElement([&]() -> Status {
      if (!stream_.is(JsonToken::kBeginObject)) {
        return Malformed(place.text() + ": expected an object, got " + ShownToken(stream_));
      }
      begin();
      VERNIER_TRY(stream_.ForEachMember([&](const std::string& key) { return read(place, key); }));
      VERNIER_TRY(end(place));
      ++place.index;
      return {};
    });
  }

  Status ReadImages() {
    has_images_ = true;
    labels_.images.clear();
    std::optional<int64_t> id;
    const auto begin = [&] {
      labels_.images.emplace_back();
      id.reset();
    };
    const auto read = [&](const CocoPlace& place, const std::string& key) -> Status {
      CocoImage& image = labels_.images.back();
      if (key == "id") {
        VERNIER_ASSIGN_OR_RETURN(id, ReadWhole(place, key, stream_));
        image.id = *id;
      } else if (key == "width" || key == "height") {
        double& size = key == "width" ? image.width : image.height;
        VERNIER_ASSIGN_OR_RETURN(size, ReadSize(place, key, stream_));
      } else if (key == "file_name" && stream_.is(JsonToken::kString)) {
        VERNIER_ASSIGN_OR_RETURN(image.file_name, stream_.Text());
      } else {
        return stream_.Skip();
      }
      return {};
    };
    return ReadObjects({"image"}, begin, read, [&](const CocoPlace& place) -> Status {
      return id ? CheckSides(labels_.images.back()) : Malformed(place.text() + " has no id");
    });
  }

  Status ReadCategories() {
    has_categories_ = true;
    labels_.categories.clear();
    std::optional<int64_t> id;
    const auto begin = [&] {
      labels_.categories.emplace_back();
      id.reset();
    };
    const auto read = [&](const CocoPlace& place, const std::string& key) -> Status {
      CocoCategory& category = labels_.categories.back();
      if (key == "id") {
        VERNIER_ASSIGN_OR_RETURN(id, ReadWhole(place, key, stream_));
        category.id = *id;
      } else if (key == "name" && stream_.is(JsonToken::kString)) {
        VERNIER_ASSIGN_OR_RETURN(category.name, stream_.Text());
      } else {
        return stream_.Skip();
      }
      return {};
    };
    return ReadObjects({"category"}, begin, read, [&](const CocoPlace& place) -> Status {
      return id ? Status() : Malformed(place.text() + " has no id");
    });
  }

  Status ReadAnnotations() {
    has_annotations_ = true;
    annotations_.clear();
    const auto begin = [&] { annotations_.emplace_back(); };
    const auto read = [&](const CocoPlace& place, const std::string& key) -> Status {
      CocoAnnotation& annotation = annotations_.back();
      if (key == "id") {
        VERNIER_ASSIGN_OR_RETURN(annotation.id, ReadWhole(place, key, stream_));
      } else if (key == "image_id") {
        VERNIER_ASSIGN_OR_RETURN(annotation.image, ReadWhole(place, key, stream_));
      } else if (key == "category_id") {
        VERNIER_ASSIGN_OR_RETURN(annotation.category, ReadWhole(place, key, stream_));
      } else if (key == "bbox") {
        VERNIER_ASSIGN_OR_RETURN(annotation.box, ReadBox(place, stream_));
      } else if (key == "area") {
        VERNIER_ASSIGN_OR_RETURN(annotation.area, ReadSize(place, key, stream_));
      } else if (key == "iscrowd") {
        VERNIER_ASSIGN_OR_RETURN(annotation.crowd, ReadFlag(place, stream_));
      } else {
        return stream_.Skip();
      }
      return {};
    };
    return ReadObjects({"annotation"}, begin, read, [&](const CocoPlace& place) -> Status {
      const CocoAnnotation& annotation = annotations_.back();
      const char* missing = !annotation.id         ? "id"
                            : !annotation.image    ? "image_id"
                            : !annotation.category ? "category_id"
                            : !annotation.box      ? "bbox"
                                                   : nullptr;
      if (missing != nullptr) return Malformed(place.text() + " has no " + missing);
      return CheckBox(place, annotation);
    });
  }

  template <typename Item>
  static Status SortById(const std::string& what, std::vector<Item>& items) {
    std::ranges::sort(items, {}, &Item::id);
    const auto twice = std::ranges::adjacent_find(items, {}, &Item::id);
    if (twice == items.end()) return {};
    return Malformed(what + " id " + std::to_string(twice->id) + " is there twice");
  }

  Status CheckAnnotationIds() {
    std::vector<int64_t> ids(annotations_.size());
    std::ranges::transform(annotations_, ids.begin(),
                           [](const CocoAnnotation& one) { return *one.id; });
    std::ranges::sort(ids);
    const auto twice = std::ranges::adjacent_find(ids);
    if (twice == ids.end()) return {};
    return Malformed("annotation id " + std::to_string(*twice) + " is there twice");
  }

  void Place(const CocoAnnotation& annotation) {
    const auto image =
        std::ranges::lower_bound(labels_.images, *annotation.image, {}, &CocoImage::id);
    const bool listed = image != labels_.images.end() && image->id == *annotation.image;
    if (!listed || !std::ranges::binary_search(labels_.categories, *annotation.category, {},
                                               &CocoCategory::id)) {
      ++labels_.left_out;
      return;
    }
    const auto [x, y, width, height] = *annotation.box;
    const bool id_zero = *annotation.id == 0;
    labels_.has_id_zero |= id_zero;
    image->boxes.push_back({x, y, width, height, annotation.area.value_or(width * height),
                            *annotation.category, annotation.crowd, id_zero});
  }

  JsonStream stream_;
  CocoLabels labels_;
  std::vector<CocoAnnotation> annotations_;
  bool has_images_ = false;
  bool has_annotations_ = false;
  bool has_categories_ = false;
};

}  // namespace

Result<CocoLabels> ReadCocoLabels(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const InputFile> file, InputFile::Open(path));
  return CocoReader(JsonText(std::move(file))).Read().Annotate("'" + path + "'");
}

}  // namespace vernier
