#include "io/results/test_data_writer.h"

#include <utility>

#include "io/bytes/byte_sink.h"
#include "io/bytes/directory_listing.h"
#include "io/test_data/tensor_proto.h"
#include "util/files/atomic_file.h"

namespace vernier {

Result<TestDataWriter> TestDataWriter::Create(std::string path, TestDataPart part) {
  VERNIER_TRY(CreateDirectories(path));
  VERNIER_ASSIGN_OR_RETURN(const auto sets, ListTestDataSets(path));
  for (const std::string& set : sets) {
    if (!HoldsTestData(set, part)) continue;
    return IoError("'" + set + "' holds such test data already; name another folder");
  }
  return TestDataWriter(std::move(path), part);
}

Status TestDataWriter::Append(const TensorMap& tensors) {
  const std::string folder = path_ + "/test_data_set_" + std::to_string(written_);
  VERNIER_TRY(CreateDirectories(folder));
  const std::string prefix = part_ == TestDataPart::kInputs ? "/input_" : "/output_";
  for (size_t i = 0; i < tensors.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(AtomicFile file,
                             AtomicFile::Create(folder + prefix + std::to_string(i) + ".pb"));
    AtomicFileSink sink(file);
    VERNIER_TRY(WriteTensorProto(tensors[i], sink));
    VERNIER_TRY(file.Commit());
  }
  ++written_;
  return {};
}

}  // namespace vernier
