// The table of error_operators.cc: the effect of operators on the rounding errors that pass through
// them.
#pragma once

#include <cstdint>
#include <string_view>

namespace vernier {

enum class ErrorKind : uint8_t {
  kMove,        ///< copies elements of its inputs: the worst of them
  kPointwise,   ///< sums and functions of one value: the worst input, and an error of its own
  kProduct,     ///< products and quotients: the worst input, twice for a square
  kMatrix,      ///< products summed over the shared length
  kReduce,      ///< a sum over axes: errors average out where nothing cancels
  kNorm,        ///< divides by a deviation; what is subtracted before makes errors larger
  kPool,        ///< a sum over a window, or over everything after the channels
  kFourier,     ///< sums over a frame, by fast algorithms where its length allows
  kRecurrent,   ///< a matrix product for every step of a sequence
  kQuantise,    ///< to steps: an error flips a value to the next step now and then
  kRound,       ///< the same for values that have no scale of their own
  kDequantise,  ///< from steps: a copy, but for weights that one side alone has in steps
  kCast,        ///< depends on the types
  kExact,       ///< integers and truths: places, shapes, comparisons
  kControl,     ///< the body decides
  kConstant,    ///< no error
};

struct ErrorRule {
  std::string_view operators;  ///< of any domain, separated by blanks
  ErrorKind kind;
  /// The operator's own error, in roundoffs of the arithmetic that it uses, apart from sums.
  double roundoffs = 0;
  /// How many times a relative error of the input grows.
  double growth = 1;
  /// An error of any value of the output, in roundoffs of 1: functions that end at 0 or are made of
  /// parts that cancel are exact to a unit in the last place of their range, not of each value.
  double absolute = 0;
  /// Rounds what it reads to 8-bit steps by itself, and gives floats.
  bool steps_within = false;
};

/// Sources: how runtimes compute the functions (polynomials of 1 to 8 units in the last place), and
/// the derivative of each function at typical arguments.
inline constexpr ErrorRule kErrorRules[] = {
    {"Identity Reshape Flatten Squeeze Unsqueeze Transpose Concat Split Slice Gather "
     "GatherElements GatherND Expand Tile Pad DepthToSpace SpaceToDepth Where ScatterElements "
     "ScatterND Scatter Trilu ReverseSequence Dropout Compress Upsample MaxPool GlobalMaxPool "
     "MaxUnpool Max Min Clip ReduceMax ReduceMin Relu Neg Abs Optional OptionalGetElement "
     "SequenceAt SequenceConstruct SequenceInsert ConcatFromSequence SplitToSequence CastLike "
     "TensorScatter TopK CenterCropPad Col2Im Shrink ThresholdedRelu",
     ErrorKind::kMove},
    {"Add Sub Sum Mean LeakyRelu PRelu BiasAdd", ErrorKind::kPointwise, 1},
    {"HardSigmoid HardSwish Softsign Sinh Cosh Atan Asinh Tan Acos Asin Acosh Atanh",
     ErrorKind::kPointwise, 4},
    // Rational functions around 0.5 or 1, exp(x) - 1, log(1 + exp(x)): what is left near 0 has the
    // rounding of the range. A gate x * sigmoid(x) makes it |x| times larger.
    {"Sigmoid Tanh Erf Celu Selu Elu Softplus Cos Sin", ErrorKind::kPointwise, 4, 1, 1},
    {"Gelu FastGelu BiasGelu QuickGelu Mish Swish Silu", ErrorKind::kPointwise, 4, 1, 4},
    {"Sqrt", ErrorKind::kPointwise, 1, 0.5},
    {"Exp", ErrorKind::kPointwise, 4, 3},
    {"Log", ErrorKind::kPointwise, 4, 2, 1},
    {"Mul Div Reciprocal BiasMul", ErrorKind::kProduct, 1},
    {"Pow", ErrorKind::kProduct, 4, 2},
    {"MatMul Gemm Conv ConvTranspose Einsum FusedMatMul FusedGemm FusedConv DeformConv "
     "MatMulNBits MatMulInteger ConvInteger ConvIntegerToFloat MatMulIntegerToFloat",
     ErrorKind::kMatrix, 1},
    {"DynamicQuantizeMatMul", ErrorKind::kMatrix, 1, 1, 0, true},
    {"ReduceSum ReduceMean CumSum ReduceL1", ErrorKind::kReduce, 1},
    {"ReduceSumSquare ReduceL2 ReduceLogSum ReduceLogSumExp ReduceProd CumProd", ErrorKind::kReduce,
     4},
    {"Softmax LogSoftmax", ErrorKind::kNorm, 8},
    {"LayerNormalization InstanceNormalization GroupNormalization MeanVarianceNormalization "
     "SkipLayerNormalization EmbedLayerNormalization QEmbedLayerNormalization BatchNormalization",
     ErrorKind::kNorm, 4},
    {"RMSNormalization SimplifiedLayerNormalization SkipSimplifiedLayerNormalization "
     "LpNormalization LRN",
     ErrorKind::kNorm, 4},
    {"Attention QAttention MultiHeadAttention GroupQueryAttention RotaryEmbedding",
     ErrorKind::kNorm, 16},
    {"AveragePool GlobalAveragePool LpPool GlobalLpPool Resize GridSample RoiAlign AffineGrid",
     ErrorKind::kPool, 1},
    {"DFT STFT", ErrorKind::kFourier, 1},
    {"LSTM GRU RNN", ErrorKind::kRecurrent, 8, 1, 4},
    {"DynamicQuantizeLSTM", ErrorKind::kRecurrent, 8, 1, 4, true},
    {"QuantizeLinear DynamicQuantizeLinear QLinearMatMul QLinearConv QLinearAdd QLinearMul "
     "QLinearSigmoid QLinearConcat QLinearAveragePool QLinearGlobalAveragePool QLinearLeakyRelu "
     "QLinearReduceMean QLinearSoftmax QLinearWhere QGemm",
     ErrorKind::kQuantise},
    {"Floor Ceil Round Sign Mod", ErrorKind::kRound},
    {"DequantizeLinear", ErrorKind::kDequantise},
    {"Cast BitCast", ErrorKind::kCast},
    {"Shape Size ArgMax ArgMin NonZero Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor "
     "Not IsNaN IsInf OneHot NonMaxSuppression Unique BitShift BitwiseAnd BitwiseOr BitwiseNot "
     "BitwiseXor Hardmax StringNormalizer TfIdfVectorizer SequenceLength OptionalHasElement "
     "StringConcat StringSplit RegexFullMatch Multinomial",
     ErrorKind::kExact},
    {"If Loop Scan", ErrorKind::kControl},
    {"Constant ConstantOfShape Range EyeLike SequenceEmpty RandomNormal RandomUniform "
     "RandomNormalLike RandomUniformLike Bernoulli HannWindow HammingWindow BlackmanWindow "
     "MelWeightMatrix",
     ErrorKind::kConstant},
};

}  // namespace vernier
