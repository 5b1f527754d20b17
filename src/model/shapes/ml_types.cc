#include "model/shapes/ml_types.h"

#include "model/onnx/operator_list.h"

namespace vernier {
namespace {

constexpr int32_t kMlFloat = 1, kMlInt64 = 7, kMlString = 8;

int32_t TypeOfLabels(const NodeFacts& facts) {
  NodeAttributes& attributes = facts.attributes;
  if (attributes.Find("values_floats") != nullptr) return kMlFloat;
  if (attributes.Find("values_int64s") != nullptr) return kMlInt64;
  if (attributes.Find("values_strings") != nullptr) return kMlString;
  const OnnxAttribute* values = attributes.Find("values_tensor");
  if (values != nullptr && values->tensor) return values->tensor->onnx_type;
  // The first version goes from numbers to texts, or back.
  if (attributes.Find("classes_strings") == nullptr) return 0;
  const int32_t from = facts.Input(0).type;
  return from == kMlString ? kMlInt64 : from == kMlInt64 ? kMlString : 0;
}

int32_t TypeOfClasses(const NodeFacts& facts) {
  const OnnxAttribute* labels = facts.attributes.Find("classlabels_strings");
  return labels != nullptr && !labels->strings.empty() ? kMlString : kMlInt64;
}

}  // namespace

int32_t MlTypeOf(const NodeFacts& facts, size_t output) {
  const std::string_view op = facts.node.op_type;
  if (IsInOperators("LinearClassifier SVMClassifier TreeEnsembleClassifier", op)) {
    return output == 0 ? TypeOfClasses(facts) : kMlFloat;
  }
  if (output > 0) return 0;
  if (IsInOperators(
          "FeatureVectorizer LinearRegressor Normalizer OneHotEncoder Scaler SVMRegressor "
          "TreeEnsembleRegressor",
          op)) {
    return kMlFloat;
  }
  if (IsInOperators("ArrayFeatureExtractor Binarizer Imputer TreeEnsemble", op)) {
    return facts.Input(0).type;
  }
  return op == "LabelEncoder" ? TypeOfLabels(facts) : 0;
}

}  // namespace vernier
