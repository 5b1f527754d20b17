// A recurrent network in a bare C++ program that feeds its outputs back by itself: what the steps
// of `vernier run` are compared with.
//
//   steps_bare LIBRARY MODEL.onnx STEPS SAMPLES.f32 INPUT SIZE HOP PAD OUTPUT OUTPUT:INPUT...
//
// Each step takes SIZE values of a file of float32, HOP after those of the step before, with PAD
// zeros before the first. States begin with zeros, of no length along dynamic axes but "batch".
// An int64 input gets 16000. Keeps OUTPUT of each step. Prints the seconds of the loop, the largest
// resident set in bytes and the sum of what was kept.
#include <dlfcn.h>
#include <sys/resource.h>

#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

std::vector<float> ReadSamples(const char* path, size_t pad) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<float> samples(pad + bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), bytes.size() / sizeof(float) * sizeof(float),
              reinterpret_cast<char*>(samples.data() + pad));
  return samples;
}

Ort::Value MakeZeros(const Ort::Session& session, size_t input) {
  const Ort::TypeInfo type = session.GetInputTypeInfo(input);
  const auto info = type.GetTensorTypeAndShapeInfo();
  std::vector<int64_t> dims = info.GetShape();
  std::vector<const char*> names(dims.size());
  info.GetSymbolicDimensions(names.data(), names.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) dims[i] = std::string(names[i]) == "batch" ? 1 : 0;
  }
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::Value zeros =
      Ort::Value::CreateTensor(allocator, dims.data(), dims.size(), info.GetElementType());
  const size_t count = zeros.GetTensorTypeAndShapeInfo().GetElementCount();
  if (info.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64) {
    std::fill_n(zeros.GetTensorMutableData<int64_t>(), count, 16000);
  } else {
    std::fill_n(zeros.GetTensorMutableData<float>(), count, 0.0F);
  }
  return zeros;
}

size_t PlaceOf(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) std::exit(3);
  return static_cast<size_t>(found - names.begin());
}

std::vector<const char*> Pointers(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

std::vector<std::string> NamesOf(const Ort::Session& session, bool outputs) {
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<std::string> names;
  const size_t count = outputs ? session.GetOutputCount() : session.GetInputCount();
  for (size_t i = 0; i < count; ++i) {
    names.emplace_back(outputs ? session.GetOutputNameAllocated(i, allocator).get()
                               : session.GetInputNameAllocated(i, allocator).get());
  }
  return names;
}

void InitRuntime(const char* path) {
  void* const library = ::dlopen(path, RTLD_NOW);
  if (library == nullptr) std::exit(3);
  const auto base = reinterpret_cast<const OrtApiBase* (*)()>(::dlsym(library, "OrtGetApiBase"));
  if (base == nullptr) std::exit(3);
  Ort::InitApi(base()->GetApi(ORT_API_VERSION));
}

Ort::Session Open(const Ort::Env& env, const char* path) {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1);
  options.SetInterOpNumThreads(1);
  return Ort::Session(env, path, options);
}

struct Loop {
  size_t steps, sliced, size, hop, kept;
  std::vector<std::pair<size_t, size_t>> pairs;  // an output, the input that it feeds
};

// What is kept of all steps.
std::vector<float> Run(Ort::Session& session, const Loop& loop, std::vector<float>& samples,
                       std::vector<Ort::Value> feed) {
  const auto inputs = NamesOf(session, false), outputs = NamesOf(session, true);
  const auto input_names = Pointers(inputs), output_names = Pointers(outputs);
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const int64_t window[] = {1, static_cast<int64_t>(loop.size)};
  std::vector<float> kept;
  for (size_t step = 0; step < loop.steps; ++step) {
    feed[loop.sliced] = Ort::Value::CreateTensor<float>(memory, samples.data() + step * loop.hop,
                                                        loop.size, window, 2);
    std::vector<Ort::Value> given =
        session.Run(Ort::RunOptions{nullptr}, input_names.data(), feed.data(), feed.size(),
                    output_names.data(), output_names.size());
    const float* const values = given[loop.kept].GetTensorData<float>();
    kept.insert(kept.end(), values,
                values + given[loop.kept].GetTensorTypeAndShapeInfo().GetElementCount());
    for (const auto& [output, input] : loop.pairs) feed[input] = std::move(given[output]);
  }
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 10) return 2;
  InitRuntime(argv[1]);
  const Ort::Env env(ORT_LOGGING_LEVEL_ERROR);
  Ort::Session session = Open(env, argv[2]);
  const auto inputs = NamesOf(session, false), outputs = NamesOf(session, true);
  const auto number = [&](int i) { return static_cast<size_t>(std::atoll(argv[i])); };
  Loop loop{number(3), PlaceOf(inputs, argv[5]),  number(6),
            number(7), PlaceOf(outputs, argv[9]), {}};
  for (int i = 10; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t colon = word.find(':');
    loop.pairs.emplace_back(PlaceOf(outputs, word.substr(0, colon)),
                            PlaceOf(inputs, word.substr(colon + 1)));
  }
  std::vector<float> samples = ReadSamples(argv[4], number(8));
  if (loop.steps == 0 || samples.size() < (loop.steps - 1) * loop.hop + loop.size) return 3;
  std::vector<Ort::Value> first;
  for (size_t i = 0; i < inputs.size(); ++i) first.push_back(MakeZeros(session, i));
  const auto start = std::chrono::steady_clock::now();
  const std::vector<float> kept = Run(session, loop, samples, std::move(first));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  double sum = 0;
  for (const float value : kept) sum += value;
  std::printf("seconds %.9f\npeak %ld\nsum %.9g\n", seconds.count(), usage.ru_maxrss * 1024, sum);
  return 0;
}
