// Pictures as files.
#pragma once

#include <string>
#include <string_view>

#include "picture/figure.h"
#include "picture/typeface.h"
#include "vernier/status.h"

namespace vernier {

/// A file name, without folder and extension, from any text: separators become '_' as Polygraphy's,
/// control characters too, and a text of more than 180 bytes loses its middle to a hash of the
/// whole. Never empty, never one that begins with a dot.
std::string SafeFileStem(std::string_view text);

/// Writes FOLDER/STEM.svg and FOLDER/STEM.png, each of them whole or not at all. The folder is
/// created. Errors are kIo and name the path.
Status SaveFigure(const Figure& figure, const Typeface& typeface, const std::string& folder,
                  const std::string& stem);

/// Hands a file to the desktop (xdg-open) without waiting. kUnavailable, saying why, where there is
/// no display or no xdg-open.
Status OpenOnDesktop(const std::string& path);

/// A new empty folder for pictures that are only shown. kIo when it cannot be made.
Result<std::string> MakeTemporaryFolder();

}  // namespace vernier
