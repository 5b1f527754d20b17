/* A frozen graph in a bare C program: what vernier's TensorFlow runner is compared with.
 *
 *   tensorflow_bare LIBRARY GRAPH.pb INPUT OUTPUT ROUNDS PAUSE DIM...
 *
 * Prints the median time of an inference in seconds. PAUSE microseconds pass before each. Needs no
 * headers of TensorFlow. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  const void* data;
  size_t length;
  void (*release)(void*, size_t);
} Buffer;
typedef struct {
  void* operation;
  int index;
} Output;

static void* library;

static void* function(const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "no %s\n", name);
    exit(1);
  }
  return found;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static void leave(void* data, size_t size, void* argument) {
  (void)data, (void)size, (void)argument;
}

static Buffer read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  Buffer buffer = {NULL, 0, NULL};
  if (file == NULL) exit(1);
  fseek(file, 0, SEEK_END);
  buffer.length = (size_t)ftell(file);
  rewind(file);
  void* data = malloc(buffer.length);
  if (fread(data, 1, buffer.length, file) != buffer.length) exit(1);
  fclose(file);
  buffer.data = data;
  return buffer;
}

int main(int argc, char** argv) {
  if (argc < 8) return 2;
  library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  void* (*new_status)(void) = function("TF_NewStatus");
  int (*code)(const void*) = function("TF_GetCode");
  const char* (*message)(const void*) = function("TF_Message");
  void* (*new_graph)(void) = function("TF_NewGraph");
  void* (*new_options)(void) = function("TF_NewImportGraphDefOptions");
  void (*import)(void*, const Buffer*, const void*, void*) = function("TF_GraphImportGraphDef");
  void* (*new_session_options)(void) = function("TF_NewSessionOptions");
  void* (*new_session)(void*, const void*, void*) = function("TF_NewSession");
  void* (*find)(void*, const char*) = function("TF_GraphOperationByName");
  void* (*new_tensor)(int, const int64_t*, int, void*, size_t, void (*)(void*, size_t, void*),
                      void*) = function("TF_NewTensor");
  const float* (*data_of)(const void*) = function("TF_TensorData");
  size_t (*size_of)(const void*) = function("TF_TensorByteSize");
  void (*delete_tensor)(void*) = function("TF_DeleteTensor");
  void (*run)(void*, const Buffer*, const Output*, void* const*, int, const Output*, void**, int,
              const void* const*, int, Buffer*, void*) = function("TF_SessionRun");

  void* status = new_status();
  void* graph = new_graph();
  const Buffer file = read_file(argv[2]);
  import(graph, &file, new_options(), status);
  void* session = new_session(graph, new_session_options(), status);
  const Output input = {find(graph, argv[3]), 0}, output = {find(graph, argv[4]), 0};
  int64_t dims[8];
  size_t count = 1;
  for (int i = 7; i < argc && i < 15; ++i) count *= (size_t)(dims[i - 7] = atoll(argv[i]));
  float* data = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
  uint32_t number = 1;
  float sum = 0;

  const int rounds = atoi(argv[5]);
  const struct timespec pause = {0, atol(argv[6]) * 1000};
  double* seconds = malloc((size_t)rounds * sizeof(double));
  for (int i = 0; i < rounds; ++i) {
    /* As anything that runs a model: other numbers each time, and the result is read. */
    for (size_t k = 0; k < count; ++k) {
      number = number * 1664525 + 1013904223;
      data[k] = (float)(number >> 8) * 0x1p-24f;
    }
    if (pause.tv_nsec > 0) nanosleep(&pause, NULL);
    const double start = now();
    void* value = new_tensor(1, dims, argc - 7, data, count * sizeof(float), &leave, NULL);
    void* result = NULL;
    run(session, NULL, &input, &value, 1, &output, &result, 1, NULL, 0, NULL, status);
    if (code(status) != 0) {
      fprintf(stderr, "%s\n", message(status));
      return 1;
    }
    delete_tensor(value);
    seconds[i] = now() - start;
    const float* values = data_of(result);
    for (size_t k = 0; k < size_of(result) / sizeof(float); ++k) sum += values[k];
    delete_tensor(result);
  }
  qsort(seconds, (size_t)rounds, sizeof(double), &compare);
  printf("%.9f\n", seconds[rounds / 2]);
  return sum == -1 ? 3 : 0; /* used */
}
