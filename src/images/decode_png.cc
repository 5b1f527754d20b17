#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "images/formats.h"

namespace vernier {
namespace {

constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";
constexpr size_t kPngHeaderSize = 33;  // with the whole IHDR chunk

// All that the reading of one file makes. Errors of libpng jump over the functions in between,
// which therefore own nothing.
struct PngReading {
  explicit PngReading(std::span<const std::byte> file) : rest(file) {}
  ~PngReading() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReading(const PngReading&) = delete;
  PngReading& operator=(const PngReading&) = delete;

  std::span<const std::byte> rest;
  char damage[128] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<png_bytep> rows;
  DecodedImage image;
};

[[noreturn]] void OnPngError(png_structp png, png_const_charp message) {
  auto& reading = *static_cast<PngReading*>(png_get_error_ptr(png));
  std::strncpy(reading.damage, message, sizeof(reading.damage) - 1);
  png_longjmp(png, 1);
}

void OnPngWarning(png_structp, png_const_charp) {}

void ReadPngBytes(png_structp png, png_bytep to, size_t size) {
  auto& reading = *static_cast<PngReading*>(png_get_io_ptr(png));
  if (size > reading.rest.size()) png_error(png, "it ends too early");
  std::memcpy(to, reading.rest.data(), size);
  reading.rest = reading.rest.subspan(size);
}

// Has libpng make 8 bits of gray or RGB of what the file has.
uint8_t AskForPlainPixels(png_structp png, png_infop info) {
  const int type = png_get_color_type(png, info);
  uint8_t remarks = 0;
  if (type == PNG_COLOR_TYPE_PALETTE) {
    png_set_palette_to_rgb(png);
    remarks |= kPaletteImage;
  }
  if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
  if (png_get_bit_depth(png, info) == 16) {
    png_set_strip_16(png);
    remarks |= kSixteenBitImage;
  }
  if ((type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, info, PNG_INFO_tRNS) != 0) {
    png_set_strip_alpha(png);
    remarks |= kAlphaImage;
  }
  return remarks;
}

bool PngIsTurned(png_structp png, png_infop info) {
#ifdef PNG_eXIf_SUPPORTED
  png_uint_32 size = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(png, info, &size, &exif) == 0) return false;
  return ExifTurns(std::as_bytes(std::span(exif, size)));
#else
  return false;
#endif
}

// Makes room for the pixels, and points at each row of it.
bool MakeRows(PngReading& reading, png_structp png, png_infop info) {
  RasterImage& raster = reading.image.raster;
  raster.size = {png_get_image_height(png, info), png_get_image_width(png, info)};
  raster.channels = png_get_channels(png, info);
  const size_t row = png_get_rowbytes(png, info);
  const bool plain = raster.channels == 1 || raster.channels == 3;
  const auto width = static_cast<size_t>(raster.size.width);
  if (!plain || row != width * static_cast<size_t>(raster.channels)) return false;
  raster.pixels.resize(row * static_cast<size_t>(raster.size.height));
  for (size_t at = 0; at < raster.pixels.size(); at += row) {
    reading.rows.push_back(raster.pixels.data() + at);
  }
  return true;
}

// False where libpng found a fault, which is noted then.
bool ReadPng(PngReading& reading) {
  if (setjmp(png_jmpbuf(reading.png)) != 0) return false;
  png_set_read_fn(reading.png, &reading, ReadPngBytes);
  // Our own limit has been checked already.
  png_set_user_limits(reading.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_read_info(reading.png, reading.info);
  reading.image.remarks = AskForPlainPixels(reading.png, reading.info);
  png_set_interlace_handling(reading.png);
  png_read_update_info(reading.png, reading.info);
  if (!MakeRows(reading, reading.png, reading.info)) {
    png_error(reading.png, "its pixels are of an unknown kind");
  }
  png_read_image(reading.png, reading.rows.data());
  png_read_end(reading.png, reading.info);
  if (PngIsTurned(reading.png, reading.info)) reading.image.remarks |= kTurnedImage;
  return true;
}

int64_t BigEndian32(std::span<const std::byte> bytes) {
  int64_t number = 0;
  for (const std::byte byte : bytes.first(4)) number = number << 8 | std::to_integer<int>(byte);
  return number;
}

}  // namespace

bool IsPng(std::span<const std::byte> file) {
  return file.size() >= kPngSignature.size() &&
         std::memcmp(file.data(), kPngSignature.data(), kPngSignature.size()) == 0;
}

Result<DecodedImage> DecodePng(std::span<const std::byte> file, int64_t most_pixels) {
  const bool has_header =
      file.size() >= kPngHeaderSize && std::memcmp(file.data() + 12, "IHDR", 4) == 0;
  if (!has_header) return Malformed("it is damaged: it has no header");
  VERNIER_TRY(
      CheckImageSize({BigEndian32(file.subspan(20)), BigEndian32(file.subspan(16))}, most_pixels));
  PngReading reading(file);
  reading.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, OnPngError, OnPngWarning);
  if (reading.png != nullptr) reading.info = png_create_info_struct(reading.png);
  if (reading.info == nullptr)
    return Internal("libpng cannot be used: no memory, or another version");
  if (!ReadPng(reading)) return Malformed(std::string("it is damaged: ") + reading.damage);
  return std::move(reading.image);
}

}  // namespace vernier
