// Images that a worker reads: what is asked of it, and what it answers.
#pragma once

#include <cstdint>
#include <string>

#include "backend/wire.h"
#include "images/decode.h"
#include "images/preprocess.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class Worker;

struct ImageRequest {
  std::string path;
  int64_t most_pixels = 0;
  ImageRecipe recipe;

  void Encode(MessageWriter& out) const;
  /// A recipe that makes no sense fails the reader.
  static ImageRequest Decode(MessageReader& in);
};

struct ReadImage {
  Tensor tensor;
  uint8_t remarks = 0;  ///< of ImageRemark
  ImageSize size = {};  ///< as it was decoded, before the recipe
};

/// The image as the recipe makes it, in this process. kMalformed where the file is none, and as
/// DecodeImage; kInvalidArgument as MakeImageTensor.
Result<ReadImage> ReadImageFile(const ImageRequest& request);

/// The same in a worker that was loaded without a plug-in. Also kBackend: it died of the image, or
/// gave no answer in time, and another worker has to be asked for the next one.
Result<ReadImage> ReadImageIn(Worker& worker, const ImageRequest& request);

}  // namespace vernier
