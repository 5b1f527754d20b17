#include "record/schema/page_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "record/schema/record_json.h"
#include "vernier/blame_record.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::Not;

RunRecord RecordForPage() {
  RunRecord record;
  record.command = "vernier run";
  record.seconds = 1.0 / 3;
  OutputRecord output;
  output.name = "y";
  output.max_absolute_error = 0;
  output.figures.worst.emplace_back().first_digits = "4611686018427388002";
  output.figures.worst.front().second_digits = "123456";
  record.pairs.emplace_back().outputs.push_back(output);
  return record;
}

// As the page's script unpacks it.
RecordJson Unpacked(const RecordJson& value, const RecordJson& keys) {
  if (value.is_object()) {
    EXPECT_EQ(value.size(), 1);
    const RecordJson& list = keys.at(std::stoul(value.begin().key()));
    const RecordJson& values = value.begin().value();
    EXPECT_EQ(list.size(), values.size());
    RecordJson object = RecordJson::object();
    for (size_t i = 0; i < list.size(); ++i) {
      object[list[i].get<std::string>()] = Unpacked(values.at(i), keys);
    }
    return object;
  }
  if (!value.is_array()) return value;
  RecordJson array = RecordJson::array();
  for (const RecordJson& item : value) array.push_back(Unpacked(item, keys));
  return array;
}

std::string UnpackedPage(const RunRecord& record) {
  const RecordJson page = RecordJson::parse(ToPageJson(record));
  return DumpJson(Unpacked(page.at("value"), page.at("keys")), -1);
}

TEST(PageJson, NamesFieldsOnce) {
  RunRecord record = RecordForPage();
  std::vector<OutputRecord>& outputs = record.pairs.front().outputs;
  outputs.assign(3, OutputRecord(outputs.front()));
  const std::string json = ToPageJson(record);
  const size_t found = json.find("max_absolute_error");
  EXPECT_NE(found, std::string::npos);
  EXPECT_EQ(json.find("max_absolute_error", found + 1), std::string::npos);
}

TEST(PageJson, LeavesOutWhatGoesWithoutSaying) {
  const std::string json = UnpackedPage(RecordForPage());
  EXPECT_THAT(json, HasSubstr(R"("command":"vernier run")"));
  EXPECT_THAT(json, Not(HasSubstr("null")));
  EXPECT_THAT(json, Not(HasSubstr("[]")));
  EXPECT_THAT(json, Not(HasSubstr("notes")));
  EXPECT_THAT(json, Not(HasSubstr("comparison_results")));
}

// 0 is not the same as not measured.
TEST(PageJson, KeepsZeros) {
  const std::string json = UnpackedPage(RecordForPage());
  EXPECT_THAT(json, HasSubstr(R"("max_absolute_error":0.0)"));
  EXPECT_THAT(json, Not(HasSubstr("max_relative_error")));
}

TEST(PageJson, NumbersAreShortAndIntegersExact) {
  const std::string json = UnpackedPage(RecordForPage());
  EXPECT_THAT(json, HasSubstr(R"("seconds":0.333333333,)"));
  EXPECT_THAT(json, HasSubstr(R"("first":"4611686018427388002","second":123456,)"));
}

TEST(PageJson, LayersAreThereOnce) {
  RunRecord record = RecordForPage();
  record.pairs.push_back(record.pairs.front());
  record.pairs.back().by_layer = true;
  BlameRecord blame;
  blame.model = "m.onnx";
  blame.layers.emplace_back().node = "conv";
  record.blame = std::make_shared<const BlameRecord>(blame);
  const std::string json = UnpackedPage(record);
  EXPECT_THAT(json, HasSubstr(R"("by_layer":true)"));
  EXPECT_THAT(json, HasSubstr("m.onnx"));
  EXPECT_THAT(json, Not(HasSubstr("conv")));
}

}  // namespace
}  // namespace vernier
