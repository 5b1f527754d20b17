#include "images/decode.h"

#include <optional>
#include <string>

#include "images/formats.h"

namespace vernier {
namespace {

// Numbers of a TIFF file, in the byte order that it says.
class TiffBytes {
 public:
  explicit TiffBytes(std::span<const std::byte> bytes) : bytes_(bytes) {
    little_ = bytes.size() > 1 && At(0) == 'I' && At(1) == 'I';
  }

  std::optional<uint32_t> Number(size_t offset, size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return std::nullopt;
    uint32_t number = 0;
    for (size_t i = 0; i < size; ++i) {
      number = number << 8 | At(offset + (little_ ? size - 1 - i : i));
    }
    return number;
  }

 private:
  uint8_t At(size_t offset) const { return static_cast<uint8_t>(bytes_[offset]); }

  std::span<const std::byte> bytes_;
  bool little_ = false;
};

}  // namespace

Status CheckImageSize(ImageSize size, int64_t most_pixels) {
  const std::string text = std::to_string(size.width) + "x" + std::to_string(size.height);
  if (size.width <= 0 || size.height <= 0) return Malformed("it has no pixels (" + text + ")");
  if (size.width <= most_pixels / size.height) return {};
  return Malformed("it has " + text + " pixels, more than --max-image-pixels " +
                   std::to_string(most_pixels));
}

bool ExifTurns(std::span<const std::byte> exif) {
  constexpr uint32_t kOrientation = 0x0112;
  const TiffBytes tiff(exif);
  const std::optional<uint32_t> directory = tiff.Number(4, 4);
  if (!directory) return false;
  const uint32_t entries = tiff.Number(*directory, 2).value_or(0);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = size_t{*directory} + 2 + 12 * i;
    if (tiff.Number(entry, 2) != kOrientation) continue;
    const uint32_t orientation = tiff.Number(entry + 8, 2).value_or(1);
    return orientation >= 2 && orientation <= 8;
  }
  return false;
}

Result<DecodedImage> DecodeImage(std::span<const std::byte> file, int64_t most_pixels) {
  if (IsPng(file)) return DecodePng(file, most_pixels);
  if (IsJpeg(file)) return DecodeJpeg(file, most_pixels);
  return Malformed(file.empty() ? "it is empty" : "it is neither a PNG nor a JPEG");
}

}  // namespace vernier
