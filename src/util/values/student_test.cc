#include "util/values/student.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(NormalQuantile, IsThatOfTables) {
  EXPECT_NEAR(NormalQuantile(0.025), 1.959964, 1e-6);
  EXPECT_NEAR(NormalQuantile(0.025 / 200), 3.662260, 1e-5);
}

TEST(StudentQuantile, IsThatOfTablesAndNeverBelow) {
  struct Entry {
    double tail, freedom, quantile;
  };
  for (const auto& [tail, freedom, quantile] :
       {Entry{0.025, 3, 3.182446}, Entry{0.025, 10, 2.228139}, Entry{0.025, 100, 1.983972},
        Entry{0.000125, 5, 9.235495}, Entry{0.000125, 10, 5.532904},
        Entry{0.000125, 100, 3.798579}}) {
    EXPECT_GE(StudentQuantile(tail, freedom), quantile * 0.9999) << tail << " " << freedom;
    EXPECT_LE(StudentQuantile(tail, freedom), quantile * 1.04) << tail << " " << freedom;
  }
}

}  // namespace
}  // namespace vernier
