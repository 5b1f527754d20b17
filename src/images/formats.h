// The decoders behind DecodeImage, and what they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "images/decode.h"
#include "vernier/status.h"

namespace vernier {

bool IsPng(std::span<const std::byte> file);
bool IsJpeg(std::span<const std::byte> file);

/// As DecodeImage.
Result<DecodedImage> DecodePng(std::span<const std::byte> file, int64_t most_pixels);
Result<DecodedImage> DecodeJpeg(std::span<const std::byte> file, int64_t most_pixels);

/// kMalformed where an image has no pixels, or more than that.
Status CheckImageSize(ImageSize size, int64_t most_pixels);

/// Whether EXIF data (a TIFF header and what follows) have an orientation other than upright.
/// False for what is no such data.
bool ExifTurns(std::span<const std::byte> exif);

}  // namespace vernier
