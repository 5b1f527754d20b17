// jpeglib.h needs what is before it.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "images/formats.h"

namespace vernier {
namespace {

// All that the reading of one file makes. Errors of libjpeg jump over the functions in between,
// which therefore own nothing.
struct JpegReading {
  JpegReading() = default;
  ~JpegReading() { jpeg_destroy_decompress(&info); }
  JpegReading(const JpegReading&) = delete;
  JpegReading& operator=(const JpegReading&) = delete;

  jpeg_decompress_struct info = {};
  jpeg_error_mgr errors = {};
  std::jmp_buf back;
  char damage[JMSG_LENGTH_MAX] = "";
  Status refusal;
  DecodedImage image;
  std::vector<uint8_t> inks;  // one row, of images that have four
};

JpegReading& ReadingOf(j_common_ptr info) { return *static_cast<JpegReading*>(info->client_data); }

[[noreturn]] void OnJpegError(j_common_ptr info) {
  JpegReading& reading = ReadingOf(info);
  info->err->format_message(info, reading.damage);
  std::longjmp(reading.back, 1);
}

// libjpeg goes on with gray where bytes are missing, and calls that a warning.
bool IsHarmless(int code) {
  return code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM;
}

void OnJpegWarning(j_common_ptr info, int level) {
  JpegReading& reading = ReadingOf(info);
  if (level >= 0 || IsHarmless(info->err->msg_code) || reading.damage[0] != '\0') return;
  info->err->format_message(info, reading.damage);
}

void OnJpegWords(j_common_ptr) {}

bool JpegIsTurned(const jpeg_decompress_struct& info) {
  constexpr size_t kPrefix = 6;  // "Exif" and two zeros
  for (const jpeg_marker_struct* marker = info.marker_list; marker != nullptr;
       marker = marker->next) {
    const auto bytes = std::as_bytes(std::span(marker->data, marker->data_length));
    if (bytes.size() < kPrefix || std::memcmp(bytes.data(), "Exif\0\0", kPrefix) != 0) continue;
    if (ExifTurns(bytes.subspan(kPrefix))) return true;
  }
  return false;
}

// Programs that write four inks write them as 255 - ink, whatever the file says; so reads Pillow.
void InksToRgb(std::span<const uint8_t> inks, uint8_t* rgb) {
  for (size_t at = 0; at < inks.size(); at += 4) {
    const int light = inks[at + 3];
    for (size_t c = 0; c < 3; ++c) {
      *rgb++ = static_cast<uint8_t>((inks[at + c] * light + 127) / 255);
    }
  }
}

void ReadJpegRows(JpegReading& reading) {
  jpeg_decompress_struct& info = reading.info;
  RasterImage& raster = reading.image.raster;
  const bool inks = info.out_color_components == 4;
  raster.channels = inks ? 3 : info.out_color_components;
  const size_t row = size_t{info.output_width} * static_cast<size_t>(raster.channels);
  raster.pixels.resize(row * info.output_height);
  if (inks) reading.inks.resize(size_t{info.output_width} * 4);
  while (info.output_scanline < info.output_height) {
    uint8_t* const to = raster.pixels.data() + row * info.output_scanline;
    JSAMPROW line = inks ? reading.inks.data() : to;
    jpeg_read_scanlines(&info, &line, 1);
    if (inks) InksToRgb(reading.inks, to);
  }
}

// False where libjpeg found a fault, which is noted then.
bool ReadJpeg(JpegReading& reading, std::span<const std::byte> file, int64_t most_pixels) {
  jpeg_decompress_struct& info = reading.info;
  if (setjmp(reading.back) != 0) return false;
  jpeg_create_decompress(&info);
  info.client_data = &reading;
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()),
               static_cast<unsigned long>(file.size()));
  jpeg_save_markers(&info, JPEG_APP0 + 1, 0xFFFF);
  jpeg_read_header(&info, TRUE);
  reading.image.raster.size = {info.image_height, info.image_width};
  reading.refusal = CheckImageSize(reading.image.raster.size, most_pixels);
  if (!reading.refusal.ok()) return true;
  if (JpegIsTurned(info)) reading.image.remarks |= kTurnedImage;
  const bool inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  if (inks) reading.image.remarks |= kCmykImage;
  const bool gray = info.jpeg_color_space == JCS_GRAYSCALE;
  info.out_color_space = inks ? JCS_CMYK : gray ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&info);
  ReadJpegRows(reading);
  jpeg_finish_decompress(&info);
  return reading.damage[0] == '\0';
}

}  // namespace

bool IsJpeg(std::span<const std::byte> file) {
  return file.size() >= 3 && std::memcmp(file.data(), "\xFF\xD8\xFF", 3) == 0;
}

Result<DecodedImage> DecodeJpeg(std::span<const std::byte> file, int64_t most_pixels) {
  JpegReading reading;
  reading.info.err = jpeg_std_error(&reading.errors);
  reading.info.client_data = &reading;
  reading.errors.error_exit = OnJpegError;
  reading.errors.emit_message = OnJpegWarning;
  reading.errors.output_message = OnJpegWords;
  if (!ReadJpeg(reading, file, most_pixels)) {
    return Malformed(std::string("it is damaged: ") + reading.damage);
  }
  VERNIER_TRY(std::move(reading.refusal));
  return std::move(reading.image);
}

}  // namespace vernier
