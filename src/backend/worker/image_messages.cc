#include "backend/worker/image_messages.h"

#include <memory>
#include <utility>

#include "backend/wire/messages.h"
#include "backend/wire/tensor_block.h"
#include "backend/worker/worker.h"
#include "util/files/mapped_file.h"

namespace vernier {
namespace {

// `fields` is called with each number of a recipe.
template <typename Recipe, typename Fields>
void EachNumber(Recipe& recipe, Fields fields) {
  for (auto* size : {&recipe.resize, &recipe.crop, &recipe.wanted}) {
    fields(size->height);
    fields(size->width);
  }
  fields(recipe.shorter_side);
}

template <typename Recipe, typename Fields>
void EachSwitch(Recipe& recipe, Fields fields) {
  fields(recipe.gray);
  fields(recipe.swaps_colors);
  fields(recipe.channels_last);
  fields(recipe.in_batch);
}

// A value for each byte of each channel.
bool HasAllValues(const ImageRecipe& recipe) {
  const int64_t count = 256 * recipe.channels();
  return ByteSize(recipe.dtype, count) == recipe.values.size();
}

}  // namespace

void ImageRequest::Encode(MessageWriter& out) const {
  out.Text(path);
  out.Number(most_pixels);
  EachNumber(recipe, [&](int64_t number) { out.Number(number); });
  EachSwitch(recipe, [&](bool is_on) { out.Number(static_cast<uint8_t>(is_on)); });
  out.Number(static_cast<uint8_t>(recipe.dtype));
  out.Number<uint64_t>(recipe.values.size());
  out.Append(recipe.values);
}

ImageRequest ImageRequest::Decode(MessageReader& in) {
  ImageRequest request;
  ImageRecipe& recipe = request.recipe;
  request.path = in.Text();
  request.most_pixels = in.Number<int64_t>();
  EachNumber(recipe, [&](int64_t& number) {
    number = in.Number<int64_t>();
    if (number < 0) in.Fail();
  });
  EachSwitch(recipe, [&](bool& is_on) { is_on = in.Number<uint8_t>() != 0; });
  recipe.dtype = static_cast<DType>(in.Number<uint8_t>());
  const auto values = in.Raw(in.Count(1));
  recipe.values.assign(values.begin(), values.end());
  if (!HasAllValues(recipe) || request.most_pixels < 1) in.Fail();
  return request;
}

Result<ReadImage> ReadImageFile(const ImageRequest& request) {
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(request.path));
  VERNIER_ASSIGN_OR_RETURN(DecodedImage decoded, DecodeImage(file->bytes(), request.most_pixels));
  VERNIER_TRY(file->CheckIntact());
  const ImageSize size = decoded.raster.size;
  VERNIER_ASSIGN_OR_RETURN(Tensor tensor, MakeImageTensor(std::move(decoded.raster), request.recipe,
                                                          request.most_pixels));
  return ReadImage{std::move(tensor), decoded.remarks, size};
}

Result<ReadImage> ReadImageIn(Worker& worker, const ImageRequest& request) {
  MessageWriter body;
  request.Encode(body);
  VERNIER_ASSIGN_OR_RETURN(Worker::Answer answer, worker.Ask(MessageType::kReadImage, body, -1,
                                                             "reading '" + request.path + "'"));
  MessageReader in(answer.body);
  const auto remarks = in.Number<uint8_t>();
  ImageSize size;
  size.height = in.Number<int64_t>();
  size.width = in.Number<int64_t>();
  VERNIER_ASSIGN_OR_RETURN(DecodedBlock block, DecodeTensors(in.rest(), std::move(answer.memory)));
  if (block.tensors.size() != 1) return BackendError("a worker sent a malformed image");
  return ReadImage{std::move(block.tensors.front().tensor), remarks, size};
}

}  // namespace vernier
