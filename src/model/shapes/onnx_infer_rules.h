// The table of onnx_infer.cc; its letters are read by onnx_infer_codes.cc.
#pragma once

#include <string_view>

namespace vernier {

/// Operators of ai.onnx that share a rule. `types` and `ranks` have one letter per output; the last
/// one also stands for all further outputs.
///
/// Types: a digit is the type of that input; b bool, i int64, w int32, f float, u uint8, s string;
/// A the attribute `to`, B the attribute `dtype` or else input 0's type, F the attribute `dtype` or
/// else float, W the attribute `output_datatype` or else float, M the attribute `dtype` or else
/// int32, T the attribute `stash_type` or else float, K and S the value of Constant and
/// ConstantOfShape, Q and D those of QuantizeLinear and DequantizeLinear; ? unknown.
///
/// Ranks: a digit is the rank of that input; a to e are 0 to 4; + broadcasts all inputs; m, q
/// matrix products; g Gather; r Reshape; x Expand; s Squeeze; u Unsqueeze; R reductions; n ArgMax;
/// o OneHot; l ConstantOfShape; K Constant; p the attribute `shape`; ? unknown.
struct InferRule {
  std::string_view operators;
  std::string_view types;
  std::string_view ranks;
};

inline constexpr InferRule kInferRules[] = {
    {"Abs Acos Acosh Asin Asinh Atan Atanh AveragePool BitwiseNot Ceil Celu CenterCropPad Clip "
     "Concat Conv ConvTranspose Cos Cosh CumProd CumSum DFT DeformConv DepthToSpace Elu Erf Exp "
     "Floor Gelu GlobalAveragePool GlobalLpPool GlobalMaxPool GridSample GroupNormalization "
     "HardSigmoid HardSwish Hardmax Identity InstanceNormalization LRN LeakyRelu Log LogSoftmax "
     "LpNormalization LpPool MaxUnpool MeanVarianceNormalization Mish Neg PRelu Pad Reciprocal "
     "Relu Resize ReverseSequence RotaryEmbedding Round Scatter ScatterElements ScatterND Selu "
     "Shrink Sigmoid Sign Sin Sinh Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Swish "
     "Tan Tanh TensorScatter ThresholdedRelu Tile Transpose Trilu Upsample",
     "0", "0"},
    {"Add BitShift BitwiseAnd BitwiseOr BitwiseXor Div Max Mean Min Mod Mul Pow Sub Sum", "0", "+"},
    {"And Equal Greater GreaterOrEqual Less LessOrEqual Or Xor", "b", "+"},
    {"IsInf IsNaN Not RegexFullMatch", "b", "0"},
    {"OptionalHasElement", "b", "a"},
    {"ArgMax ArgMin", "i", "n"},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ReduceSumSquare",
     "0", "R"},
    {"MatMul", "0", "m"},
    {"MatMulInteger", "w", "m"},
    {"ConvInteger", "w", "0"},
    {"QLinearConv", "7", "0"},
    {"QLinearMatMul", "7", "q"},
    {"Gemm Flatten", "0", "c"},
    {"Cast BitCast", "A", "0"},
    {"CastLike", "1", "0"},
    {"Constant", "K", "K"},
    {"ConstantOfShape", "S", "l"},
    {"QuantizeLinear", "Q", "0"},
    {"DequantizeLinear", "D", "0"},
    {"DynamicQuantizeLinear", "ufu", "0aa"},
    {"Bernoulli EyeLike RandomNormalLike RandomUniformLike", "B", "0"},
    {"RandomNormal RandomUniform", "F", "p"},
    {"BlackmanWindow HammingWindow HannWindow", "W", "b"},
    {"MelWeightMatrix", "W", "c"},
    {"Multinomial", "M", "c"},
    {"LayerNormalization", "0T", "0"},
    {"RMSNormalization", "1", "0"},
    {"Attention", "0020", "0e"},
    {"BatchNormalization", "0?", "0b"},
    {"Dropout", "0b", "0"},
    {"MaxPool TopK", "0i", "0"},
    {"GRU RNN LSTM", "0", "ed"},
    {"Compress Det Einsum GatherND AffineGrid Col2Im STFT NegativeLogLikelihoodLoss "
     "SoftmaxCrossEntropyLoss",
     "0", "?"},
    {"MaxRoiPool RoiAlign", "0", "e"},
    {"Gather", "0", "g"},
    {"GatherElements", "0", "1"},
    {"Reshape", "0", "r"},
    {"Expand", "0", "x"},
    {"Squeeze", "0", "s"},
    {"Unsqueeze", "0", "u"},
    {"Range", "0", "b"},
    {"NonZero NonMaxSuppression", "i", "c"},
    {"OneHot", "2", "o"},
    {"Shape", "i", "b"},
    {"Size SequenceLength", "i", "a"},
    {"Unique", "0i", "?b"},
    {"Where", "1", "+"},
    {"StringNormalizer", "s", "0"},
    {"StringConcat", "s", "+"},
    {"TfIdfVectorizer", "f", "0"},
    {"ImageDecoder", "u", "d"},
};

}  // namespace vernier
