#include "picture/slices.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

struct PolygraphyCase {
  Dims dims;
  std::vector<std::string> pages;
};

// What Polygraphy 0.53.6 with matplotlib 3.11 names its files after.
TEST(SliceLayout, HasPolygraphyPages) {
  const PolygraphyCase cases[] = {
      {{4, 6}, {"(0,0:4,0:6) to (0,0:4,0:6)"}},
      {{2, 3, 8, 8}, {"(0,0,0:8,0:8) to (1,2,0:8,0:8)"}},
      {{10}, {"(0,0:1,0:10) to (0,0:1,0:10)"}},
      {{1}, {"(0,0:1,0:1) to (0,0:1,0:1)"}},
      {{}, {"(0,0:1,0:1) to (0,0:1,0:1)"}},
      {{1, 120, 8, 8}, {"(0,0,0:8,0:8) to (0,97,0:8,0:8)", "(0,98,0:8,0:8) to (0,119,0:8,0:8)"}},
      {{3, 700, 1000},
       {"(0,0:700,0:1000) to (0,0:700,0:1000)", "(1,0:700,0:1000) to (1,0:700,0:1000)",
        "(2,0:700,0:1000) to (2,0:700,0:1000)"}},
  };
  for (const PolygraphyCase& c : cases) {
    const SliceLayout layout(c.dims);
    std::vector<std::string> pages;
    for (int64_t page = 0; page < layout.pages(); ++page) pages.push_back(layout.PageName(page));
    EXPECT_EQ(pages, c.pages) << FormatDims(c.dims);
  }
}

TEST(SliceLayout, CountsEverySliceOnce) {
  for (const Dims& dims : {Dims{7, 3, 9, 5}, {1, 900, 40, 30}, {5, 1500, 2000}, {99, 2, 2}}) {
    const SliceLayout layout(dims);
    int64_t slices = 0;
    for (int64_t page = 0; page < layout.pages(); ++page) {
      EXPECT_EQ(layout.first_slice(page), slices);
      EXPECT_GT(layout.slices_on(page), 0);
      slices += layout.slices_on(page);
    }
    EXPECT_EQ(slices, layout.slices());
    int64_t elements = 1;
    for (const int64_t dim : dims) elements *= dim;
    EXPECT_EQ(slices * layout.slice_size(), elements);
  }
}

TEST(SliceLayout, ShowsLongerAxesWherePolygraphyWouldShowDots) {
  const SliceLayout pooled({8, 16, 1, 1});
  EXPECT_EQ(pooled.slices(), 1);
  EXPECT_EQ(pooled.rows(), 8);
  EXPECT_EQ(pooled.columns(), 16);
  EXPECT_EQ(pooled.SliceName(0), "(0:8,0:16,0,0)");
  EXPECT_EQ(pooled.RowAxisName(), "axis 0");
  const SliceLayout middle({2, 12, 1, 64});
  EXPECT_EQ(middle.slices(), 2);
  EXPECT_EQ(middle.SliceName(1), "(1,0:12,0,0:64)");
  const SliceLayout first({20, 1, 1});
  EXPECT_EQ(first.slices(), 1);
  EXPECT_EQ(first.columns(), 20);
}

TEST(SliceLayout, FoldsLongVectors) {
  for (const Dims& dims : {Dims{3000}, {1, 3000}, {3000, 1}, {1, 3000, 1, 1}}) {
    const SliceLayout layout(dims);
    EXPECT_TRUE(layout.folded()) << FormatDims(dims);
    EXPECT_EQ(layout.columns(), 100) << FormatDims(dims);
    EXPECT_EQ(layout.rows(), 30) << FormatDims(dims);
    EXPECT_EQ(layout.slice_size(), 3000) << FormatDims(dims);
  }
  EXPECT_FALSE(SliceLayout({256}).folded());
  EXPECT_FALSE(SliceLayout({2, 3000}).folded());
}

TEST(SliceLayout, NamesPlacesInTheTensorsOwnAxes) {
  EXPECT_EQ(SliceLayout({2, 3, 4}).PlaceName(23), "(1, 2, 3)");
  EXPECT_EQ(SliceLayout({5}).PlaceName(4), "(4,)");
  EXPECT_EQ(SliceLayout(Dims{}).PlaceName(0), "()");
}

}  // namespace
}  // namespace vernier
