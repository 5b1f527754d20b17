#include "picture/svg.h"

#include "io/bytes/base64.h"
#include "picture/png.h"

namespace vernier {
namespace {

// DejaVu Sans is what the glyph tables were made from; Verdana has nearly its widths.
constexpr std::string_view kFonts = "DejaVu Sans, Verdana, sans-serif";

std::string Attribute(std::string_view name, int value) {
  return " " + std::string(name) + "=\"" + std::to_string(value) + "\"";
}

std::string ColorText(Rgb color) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "#";
  for (const uint8_t part : {color.red, color.green, color.blue}) {
    text += kDigits[part >> 4];
    text += kDigits[part & 15];
  }
  return text;
}

std::string BoxAttributes(const Box& box) {
  return Attribute("x", box.x) + Attribute("y", box.y) + Attribute("width", box.width) +
         Attribute("height", box.height);
}

// The raster in the size of its box: many programs blur what they enlarge.
Pixels Enlarged(const Raster& raster) {
  Pixels out(raster.box.width, raster.box.height, kPaper);
  PaintRaster(raster, [&out](int x, int y, Rgb color) { out.At(x, y) = color; });
  return out;
}

Result<std::string> DataUrl(const Pixels& pixels) {
  VERNIER_ASSIGN_OR_RETURN(const std::string file, EncodePng(pixels));
  StringSink text;
  Base64Sink sink(text);
  VERNIER_TRY(sink.WriteText(file));
  VERNIER_TRY(sink.Finish());
  return "data:image/png;base64," + text.text();
}

class SvgWriter {
 public:
  SvgWriter(const Figure& figure, const Typeface& typeface) : typeface_(typeface) {
    const std::string size = Attribute("width", figure.width) + Attribute("height", figure.height);
    out_ =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"" +
        size + " viewBox=\"0 0 " + std::to_string(figure.width) + " " +
        std::to_string(figure.height) + "\" font-family=\"" + std::string(kFonts) + "\">\n<title>" +
        EscapeXml(figure.title) + "</title>\n<rect" + size + " fill=\"" + ColorText(kPaper) +
        "\"/>\n";
  }

  Status operator()(const FilledBox& shape) {
    out_ += "<rect" + BoxAttributes(shape.box) + " fill=\"" + ColorText(shape.color) +
            "\" shape-rendering=\"crispEdges\"/>\n";
    return {};
  }

  Status operator()(const Outline& shape) {
    // A line of one pixel has its middle between pixels.
    const Box& b = shape.box;
    out_ += "<path d=\"M" + std::to_string(b.x) + ".5 " + std::to_string(b.y) + ".5h" +
            std::to_string(b.width - 1) + "v" + std::to_string(b.height - 1) + "h-" +
            std::to_string(b.width - 1) + "z\" fill=\"none\" stroke=\"" + ColorText(shape.color) +
            "\"/>\n";
    return {};
  }

  Status operator()(const Path& shape) {
    out_ += "<polyline points=\"";
    for (const Point& point : shape.points) {
      out_ += std::to_string(point.x) + "," + std::to_string(point.y) + " ";
    }
    out_ += "\" fill=\"none\" stroke-width=\"2\" stroke=\"" + ColorText(shape.color) + "\"";
    if (shape.dashed) out_ += " stroke-dasharray=\"7 5\"";
    out_ += "/>\n";
    return {};
  }

  Status operator()(const Text& shape) {
    static constexpr std::string_view kAnchors[] = {"start", "middle", "end"};
    const bool heading = shape.size == TextSize::kHeading;
    out_ += "<text" + Attribute("x", shape.x) + Attribute("y", shape.y) +
            Attribute("font-size", heading ? 16 : 13) + " text-anchor=\"" +
            std::string(kAnchors[static_cast<size_t>(shape.anchor)]) + "\" fill=\"" +
            ColorText(shape.color) + "\"";
    if (heading) out_ += " font-weight=\"bold\"";
    if (shape.upward) {
      out_ += " transform=\"rotate(-90 " + std::to_string(shape.x) + " " + std::to_string(shape.y) +
              ")\"";
    }
    // The same place on the page whatever font the viewer has.
    if (!shape.text.empty() && typeface_.table(shape.size).Knows(shape.text)) {
      out_ += Attribute("textLength", typeface_.Width(shape.text, shape.size)) +
              " lengthAdjust=\"spacingAndGlyphs\"";
    }
    out_ += " xml:space=\"preserve\">" + EscapeXml(shape.text) + "</text>\n";
    return {};
  }

  Status operator()(const Raster& shape) {
    VERNIER_ASSIGN_OR_RETURN(const std::string url, DataUrl(Enlarged(shape)));
    out_ += "<image" + BoxAttributes(shape.box) +
            " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" xlink:href=\"" +
            url + "\"/>\n";
    return {};
  }

  std::string Finish() && { return std::move(out_) + "</svg>\n"; }

 private:
  const Typeface& typeface_;
  std::string out_;
};

}  // namespace

std::string EscapeXml(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = NextCharacter(text);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case kReplacementCharacter:
        out += "\xEF\xBF\xBD";
        break;
      default:
        out += before.substr(0, before.size() - text.size());
    }
  }
  return out;
}

Result<std::string> FormatSvg(const Figure& figure, const Typeface& typeface) {
  SvgWriter writer(figure, typeface);
  for (const Shape& shape : figure.shapes) VERNIER_TRY(std::visit(writer, shape));
  return std::move(writer).Finish();
}

}  // namespace vernier
