// Text in both kinds of files: glyphs, escaping, names of files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "picture/canvas.h"
#include "picture/picture_file.h"
#include "picture/svg.h"
#include "picture/typeface.h"

namespace vernier {
namespace {

std::u32string Characters(std::string_view text) {
  std::u32string out;
  while (!text.empty()) out += NextCharacter(text);
  return out;
}

TEST(NextCharacter, ReadsUtf8AndNothingElse) {
  EXPECT_EQ(Characters("aé≤\xF0\x9F\x98\x80"), U"aé≤\U0001F600");
  EXPECT_EQ(Characters("\x80"), U"\uFFFD");
  EXPECT_EQ(Characters("\xC0\xAF"), U"\uFFFD\uFFFD");            // an overlong slash
  EXPECT_EQ(Characters("\xE2\x89"), U"\uFFFD\uFFFD");            // cut off
  EXPECT_EQ(Characters("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");  // half of a surrogate pair
  EXPECT_EQ(Characters(std::string_view("a\0\x1b", 3)), U"a\uFFFD\uFFFD");
}

TEST(Typeface, KnowsPrintableAscii) {
  const Typeface typeface;
  for (char c = ' '; c <= '~'; ++c) {
    EXPECT_TRUE(typeface.table(TextSize::kNormal).Knows(std::string(1, c))) << c;
    EXPECT_TRUE(typeface.table(TextSize::kHeading).Knows(std::string(1, c))) << c;
    EXPECT_GT(typeface.Width(std::string(1, c)), 2);
  }
  EXPECT_FALSE(typeface.table(TextSize::kNormal).Knows("中"));
  EXPECT_GT(typeface.Width("中"), 2);
}

TEST(Typeface, ShortensTheMiddle) {
  const Typeface typeface;
  EXPECT_EQ(typeface.Fit("short", 200), "short");
  const std::string name = "encoder/" + std::string(300, 'x') + "/output";
  for (const int width : {60, 200, 900}) {
    const std::string fitted = typeface.Fit(name, width);
    EXPECT_LE(typeface.Width(fitted), width);
    EXPECT_GT(typeface.Width(fitted), width - 20);
    EXPECT_EQ(fitted.substr(0, 2), "en");
    EXPECT_EQ(fitted.substr(fitted.size() - 2), "ut");
  }
  EXPECT_EQ(typeface.Fit("中文中文中文中文中文", 40).find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Render, StampsText) {
  const Typeface typeface;
  Figure figure;
  figure.width = figure.height = 60;
  figure.Add(Text{30, 30, "H", TextAnchor::kMiddle});
  Pixels pixels = Render(figure, typeface);
  int inked = 0;
  for (const Rgb& color : pixels.colors) inked += color == kPaper ? 0 : 1;
  EXPECT_GT(inked, 20);
  EXPECT_LT(inked, 100);
  // Upward text is the same ink, turned.
  std::get<Text>(figure.shapes[0]).upward = true;
  pixels = Render(figure, typeface);
  int turned = 0;
  for (const Rgb& color : pixels.colors) turned += color == kPaper ? 0 : 1;
  EXPECT_EQ(turned, inked);
}

TEST(Render, CutsWhatReachesOverTheEdge) {
  Figure figure;
  figure.width = figure.height = 10;
  figure.Add(FilledBox{{-5, -5, 100, 7}, kInk});
  figure.Add(Outline{{-3, -3, 40, 40}, kInk});
  figure.Add(Path{{{-20, 5}, {50, 5}}, kTolerance});
  figure.Add(Text{8, 4, "long text", TextAnchor::kStart});
  figure.Add(Raster{{5, 5, 50, 50}, Pixels(2, 2, kNanColor)});
  const Pixels pixels = Render(figure, Typeface());
  EXPECT_EQ(pixels.At(0, 0), kInk);
  EXPECT_EQ(pixels.At(9, 9), kNanColor);
}

TEST(EscapeXml, LeavesNoMarkup) {
  EXPECT_EQ(EscapeXml("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(EscapeXml(std::string_view("a\0b\x1b\xFF", 5)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(EscapeXml("中é"), "中é");
}

TEST(FormatSvg, EscapesEverythingFromOutside) {
  Figure figure;
  figure.width = figure.height = 50;
  figure.title = "<script>alert(1)</script>";
  figure.Add(Text{1, 20, "]]></text><script/>"});
  const auto svg = FormatSvg(figure, Typeface());
  ASSERT_TRUE(svg.ok());
  EXPECT_EQ(svg->find("<script"), std::string::npos);
  EXPECT_NE(svg->find("&lt;script&gt;alert(1)"), std::string::npos);
}

TEST(SafeFileStem, KeepsPlainNames) {
  const std::string polygraphy = "Relative Error | y (Log Scale): (0,0:4,0:6) to (0,0:4,0:6)";
  EXPECT_EQ(SafeFileStem(polygraphy), polygraphy);
  EXPECT_EQ(SafeFileStem("error_metrics_/model/conv1/Add:0"), "error_metrics__model_conv1_Add:0");
}

TEST(SafeFileStem, NeverLeavesItsFolder) {
  for (const std::string_view name :
       {"../../etc/passwd", "..", ".", "/", "", "a/../b", ".hidden"}) {
    const std::string stem = SafeFileStem(name);
    EXPECT_EQ(stem.find('/'), std::string::npos) << name;
    ASSERT_FALSE(stem.empty());
    EXPECT_NE(stem[0], '.') << name;
  }
  EXPECT_EQ(SafeFileStem(std::string_view("a\0b\nc\x7f", 6)), "a_b_c_");
}

TEST(SafeFileStem, BoundsLongNamesAndTellsThemApart) {
  const std::string long_name(5000, 'x');
  const std::string one = SafeFileStem(long_name + "1: (0,0:4) to (0,0:4)");
  const std::string two = SafeFileStem(long_name + "2: (0,0:4) to (0,0:4)");
  EXPECT_LE(one.size(), 180u);
  EXPECT_NE(one, two);
  EXPECT_TRUE(one.ends_with(": (0,0:4) to (0,0:4)")) << one;
  std::string wide;
  for (int i = 0; i < 400; ++i) wide += "中";
  const std::string cut = SafeFileStem(wide);
  EXPECT_LE(cut.size(), 180u);
  EXPECT_EQ(Characters(cut).find(kReplacementCharacter), std::u32string::npos);
}

TEST(SaveFigure, SaysWhatIsInTheWay) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("vernier-picture-test-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "file") << "in the way";
  Figure figure;
  figure.width = figure.height = 4;
  const Typeface typeface;
  EXPECT_TRUE(SaveFigure(figure, typeface, (folder / "new" / "deep").string(), "p").ok());
  EXPECT_TRUE(std::filesystem::is_regular_file(folder / "new" / "deep" / "p.png"));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder / "new" / "deep" / "p.svg"));
  const Status status = SaveFigure(figure, typeface, (folder / "file").string(), "p");
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find("file"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace vernier
