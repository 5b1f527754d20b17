// Image files to pixels. Only a worker decodes: a file can be made to crash a decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "images/raster.h"
#include "vernier/status.h"

namespace vernier {

/// What a file had that its pixels here have not, as bits.
enum ImageRemark : uint8_t {
  kPaletteImage = 1,     ///< colours were looked up in its palette
  kSixteenBitImage = 2,  ///< only the upper 8 of the 16 bits of a value are left
  kAlphaImage = 4,       ///< its transparency was dropped
  kTurnedImage = 8,      ///< EXIF says that it should be shown turned, which was ignored
  kCmykImage = 16,       ///< printing colours were converted to RGB
};

struct DecodedImage {
  RasterImage raster;
  uint8_t remarks = 0;  ///< of ImageRemark
};

/// A PNG or a JPEG, recognised by its first bytes. kMalformed for anything else, what is damaged or
/// cut off, and for more than `most_pixels`: the size is read from the header, before anything is
/// decoded or memory is taken for it.
Result<DecodedImage> DecodeImage(std::span<const std::byte> file, int64_t most_pixels);

}  // namespace vernier
