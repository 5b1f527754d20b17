#include "plan.h"

#include <algorithm>
#include <sstream>

namespace trt_standin {
namespace {

// TensorRT's own begin so: a tag, a layout of 0, and the release at byte 24.
std::string Header() {
  std::string header = "ftrt";
  header.resize(24, '\0');
  for (const int part : {NV_TENSORRT_MAJOR, NV_TENSORRT_MINOR, NV_TENSORRT_PATCH, 0}) {
    header += static_cast<char>(part);
  }
  return header;
}

void WriteDims(const Dims& dims, std::ostream& out) {
  out << '\t' << dims.nbDims;
  for (int32_t i = 0; i < dims.nbDims; ++i) out << '\t' << dims.d[i];
}

Dims ReadDims(std::istream& in) {
  Dims dims{};
  in >> dims.nbDims;
  dims.nbDims = std::clamp(dims.nbDims, 0, Dims::MAX_DIMS);
  for (int32_t i = 0; i < dims.nbDims; ++i) in >> dims.d[i];
  return dims;
}

void ReadLine(const std::string& line, Plan& plan) {
  std::istringstream in(line);
  std::string kind;
  in >> kind;
  if (kind == "tensor") {
    PlanTensor& tensor = plan.tensors.emplace_back();
    int type = 0;
    in >> tensor.name >> tensor.role >> type >> tensor.format;
    tensor.type = static_cast<DataType>(type);
    tensor.dims = ReadDims(in);
    for (std::string symbol; in >> symbol;) tensor.symbols.push_back(symbol == "-" ? "" : symbol);
  } else if (kind == "shape") {
    PlanShape& shape = plan.shapes.emplace_back();
    in >> shape.profile >> shape.name >> shape.selector;
    shape.dims = ReadDims(in);
  } else if (kind == "layer") {
    plan.layers.push_back(line.substr(6));
  } else if (kind == "engine") {
    int verbosity = 0;
    in >> plan.profiles >> plan.copies >> plan.refittable >> plan.streams_weights >> verbosity;
    plan.verbosity = static_cast<ProfilingVerbosity>(verbosity);
  }
}

}  // namespace

std::string Plan::Write() const {
  std::ostringstream out;
  out << Header() << "\nengine\t" << profiles << '\t' << copies << '\t' << refittable << '\t'
      << streams_weights << '\t' << static_cast<int>(verbosity) << '\n';
  for (const PlanTensor& tensor : tensors) {
    out << "tensor\t" << tensor.name << '\t' << tensor.role << '\t' << static_cast<int>(tensor.type)
        << '\t' << tensor.format;
    WriteDims(tensor.dims, out);
    for (const std::string& symbol : tensor.symbols) out << '\t' << (symbol.empty() ? "-" : symbol);
    out << '\n';
  }
  for (const PlanShape& shape : shapes) {
    out << "shape\t" << shape.profile << '\t' << shape.name << '\t' << shape.selector;
    WriteDims(shape.dims, out);
    out << '\n';
  }
  for (const std::string& layer : layers) out << "layer\t" << layer << '\n';
  return out.str();
}

std::optional<Plan> Plan::Read(std::string_view bytes) {
  const std::string header = Header();
  if (!bytes.starts_with(header) || !bytes.ends_with('\n')) return std::nullopt;
  Plan plan;
  std::istringstream in{std::string(bytes.substr(header.size()))};
  for (std::string line; std::getline(in, line);) ReadLine(line, plan);
  if (plan.tensors.empty()) return std::nullopt;
  return plan;
}

const PlanTensor* Plan::Find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const PlanTensor& each) { return each.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

const PlanShape* Plan::ShapeOf(std::string_view name, int32_t profile, int32_t selector) const {
  const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const PlanShape& each) {
    return each.name == name && each.profile == profile && each.selector == selector;
  });
  return found == shapes.end() ? nullptr : &*found;
}

}  // namespace trt_standin
