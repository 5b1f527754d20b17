#include "blame/sides/tensor_layout.h"

#include "core/shape_match.h"

namespace vernier {

Result<Tensor> TensorLayout::Apply(const Tensor& tensor) const {
  VERNIER_ASSIGN_OR_RETURN(Tensor moved, tensor.Reshaped(WithoutUnitAxes(tensor.dims())));
  if (axes.empty()) return moved.Reshaped(dims);
  if (axes.size() != moved.dims().size()) {
    return Malformed("its shape is " + FormatDims(tensor.dims()) +
                     ", with another number of axes than in the first iteration");
  }
  VERNIER_ASSIGN_OR_RETURN(const Tensor turned, Transpose(moved, axes));
  return turned.Reshaped(dims);
}

}  // namespace vernier
