// A TorchScript module in a bare program: what vernier's TorchScript runner is compared with.
//
//   torch_bare MODULE.pt ROUNDS PAUSE DIM...
//
// Prints the median time of an inference in seconds. PAUSE microseconds pass before each.
#include <torch/script.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const c10::InferenceMode no_gradients;
  torch::jit::Module module = torch::jit::load(argv[1]);
  module.eval();
  std::vector<int64_t> dims;
  for (int i = 4; i < argc; ++i) dims.push_back(std::atoll(argv[i]));
  const std::chrono::microseconds pause(std::atoll(argv[3]));
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  std::vector<float> data(count);
  std::vector<double> seconds(static_cast<size_t>(std::atoll(argv[2])));
  uint32_t number = 1;
  float sum = 0;
  for (double& time : seconds) {
    // As anything that runs a model: other numbers each time, and the result is read.
    for (float& value : data) {
      number = number * 1664525 + 1013904223;
      value = static_cast<float>(number >> 8) * 0x1p-24F;
    }
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    const auto start = std::chrono::steady_clock::now();
    const at::Tensor input = torch::from_blob(data.data(), dims);
    const at::Tensor result = module.forward({input}).toTensor();
    time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (int64_t i = 0; i < result.numel(); ++i) sum += result.data_ptr<float>()[i];
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  std::printf("%.9f\n", seconds[seconds.size() / 2]);
  return sum == -1 ? 3 : 0;  // used
}
