#include "picture/png.h"

#include <png.h>

#include <optional>
#include <unordered_map>

namespace vernier {
namespace {

struct Palette {
  std::vector<Rgb> colors;
  std::vector<uint8_t> indices;  ///< one a pixel
};

uint32_t Key(Rgb color) {
  return static_cast<uint32_t>(color.red) << 16 | static_cast<uint32_t>(color.green) << 8 |
         color.blue;
}

// nullopt when there are more than 256 colours.
std::optional<Palette> MakePalette(const Pixels& pixels) {
  Palette palette;
  palette.indices.reserve(pixels.colors.size());
  std::unordered_map<uint32_t, uint8_t> known;
  // Runs of one colour are long: most pixels need no look at the table.
  uint32_t last = ~uint32_t{0};
  for (const Rgb& color : pixels.colors) {
    const uint32_t key = Key(color);
    if (key == last) {
      palette.indices.push_back(palette.indices.back());
      continue;
    }
    last = key;
    const auto [found, is_new] = known.try_emplace(key, static_cast<uint8_t>(known.size()));
    if (is_new) {
      if (palette.colors.size() == 256) return std::nullopt;
      palette.colors.push_back(color);
    }
    palette.indices.push_back(found->second);
  }
  return palette;
}

// Where the pixels are, and in which of libpng's formats.
struct Source {
  png_uint_32 format;
  const void* rows;
  const void* palette;
  png_uint_32 palette_size;
};

Result<std::string> Write(const Pixels& pixels, const Source& source) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(pixels.width);
  image.height = static_cast<png_uint_32>(pixels.height);
  image.format = source.format;
  image.colormap_entries = source.palette_size;
  // A third of the time for files that are a tenth larger.
  image.flags = PNG_IMAGE_FLAG_FAST;
  // Never less than what libpng needs, so that one call is enough.
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(size, '\0');
  if (png_image_write_to_memory(&image, file.data(), &size, 0, source.rows, 0, source.palette) ==
      0) {
    return Internal(std::string("a picture cannot be encoded: ") + image.message);
  }
  file.resize(size);
  return file;
}

}  // namespace

Result<std::string> EncodePng(const Pixels& pixels) {
  static_assert(sizeof(Rgb) == 3, "libpng reads the pixels in place");
  const std::optional<Palette> palette = MakePalette(pixels);
  if (!palette) return Write(pixels, {PNG_FORMAT_RGB, pixels.colors.data(), nullptr, 0});
  return Write(pixels, {PNG_FORMAT_RGB_COLORMAP, palette->indices.data(), palette->colors.data(),
                        static_cast<png_uint_32>(palette->colors.size())});
}

}  // namespace vernier
