// Images that a worker reads: the request and the answer.
#pragma once

#include <cstdint>
#include <string>

#include "backend/wire/wire.h"
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

/// The image as the recipe makes it, in this process. kMalformed if the file is not an image, and
/// as DecodeImage; kInvalidArgument as MakeImageTensor.
Result<ReadImage> ReadImageFile(const ImageRequest& request);

/// The same in a worker that was loaded without a plug-in. Also kBackend: it died of the image, or
/// gave no answer in time, and the next image needs another worker.
Result<ReadImage> ReadImageIn(Worker& worker, const ImageRequest& request);

}  // namespace vernier
