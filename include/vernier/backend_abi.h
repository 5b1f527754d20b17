/* The boundary between vernier and a backend plug-in: C11, standalone.
 *
 * The law of this header:
 *  - A plug-in exports one symbol, vn_backend_query. Everything else goes through tables.
 *  - Tables start with struct_size and only ever grow at the end. VN_HAS says whether a table was
 *    built with a member and filled it.
 *  - A NULL vn_status is success. Only the host makes and frees statuses (vn_host.status_new).
 *  - Nothing throws across this boundary. On error, out-parameters are untouched and nothing needs
 *    cleaning up.
 *  - Text is UTF-8 with an explicit size. Borrowed text and shapes live as long as the object that
 *    they were asked of.
 *  - Calls on one session are serial; sessions are independent. The host never unloads a plug-in.
 *  - `*_at(index)` lists end with a NOT_FOUND status.
 *  - A member is required unless its comment says that it is optional.
 */
#ifndef VERNIER_BACKEND_ABI_H_
#define VERNIER_BACKEND_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define VN_NOEXCEPT noexcept
extern "C" {
#else
#define VN_NOEXCEPT
#endif

#define VN_ABI_MAJOR 1u
/* 1.1: the host takes outputs on a CUDA device. 1.2: it has memory for outputs. 1.3: it offers
   the next inputs. 1.4: backends describe what they can do: roles and values of options, neutral
   settings, and their rank as a reference. 1.5: sequences, maps and optionals in parts. 1.6:
   sessions that keep state are reset. 1.7: outputs are inputs of a later run where they lie. 1.8:
   backends declare which models they open, traits, and what options mean. */
#define VN_ABI_MINOR 8u

typedef struct vn_status vn_status;   /* NULL is success */
typedef struct vn_backend vn_backend; /* plug-in owned */
typedef struct vn_session vn_session; /* plug-in owned: one loaded model */

/* Status codes, equal to vernier::StatusCode. */
enum {
  VN_INVALID_ARGUMENT = 1,
  VN_NOT_FOUND = 2,
  VN_MALFORMED = 3,
  VN_UNAVAILABLE = 4,
  VN_UNIMPLEMENTED = 5,
  VN_BACKEND = 6,
  VN_IO = 7,
  VN_CANCELLED = 8,
  VN_INTERNAL = 9
};

typedef struct vn_str {
  const char* data; /* not NUL-terminated */
  size_t size;
} vn_str;

typedef struct vn_option {
  vn_str key, value;
} vn_option;

/* dtype_code: DLPack's DLDataTypeCode, and two of our own. */
enum {
  VN_DTYPE_INT = 0,
  VN_DTYPE_UINT = 1,
  VN_DTYPE_FLOAT = 2,
  VN_DTYPE_BFLOAT = 4,
  VN_DTYPE_COMPLEX = 5,
  VN_DTYPE_BOOL = 6,
  VN_DTYPE_FLOAT8_E4M3FN = 10,
  VN_DTYPE_FLOAT8_E4M3FNUZ = 11,
  VN_DTYPE_FLOAT8_E5M2 = 12,
  VN_DTYPE_FLOAT8_E5M2FNUZ = 13,
  VN_DTYPE_FLOAT4_E2M1FN = 17,
  VN_DTYPE_STRING = 200, /* Arrow's layout: count + 1 int64 offsets, then the bytes */
  /* Not a tensor (a sequence, a map): `note` says what it is, and part_at has its parts. In a
   * signature and without a note: a tensor whose type is known only after a run. */
  VN_DTYPE_SKIPPED = 201
};

#define VN_RANK_UNKNOWN UINT32_MAX
/* device_type: DLPack's kDLCPU and kDLCUDA. Inputs are on the CPU, but for what feeds_back allows.
 * Outputs may be on a CUDA device, in its primary context, when vn_host.abi_minor is at least 1. */
#define VN_DEVICE_CPU 1
#define VN_DEVICE_CUDA 2

typedef struct vn_tensor {
  uint32_t struct_size;
  uint32_t rank;
  const int64_t* shape; /* -1 only in signatures, never in data */
  void* data;           /* C-contiguous; 4-bit types pack two to a byte, first in the low nibble */
  size_t byte_size;
  vn_str name;
  uint8_t dtype_code, dtype_bits;
  uint16_t dtype_lanes;
  int32_t device_type, device_id;                 /* DLPack's DLDevice */
  void* sync;                                     /* on CUDA: a CUevent to wait for, NULL = ready */
  void (*release)(struct vn_tensor*) VN_NOEXCEPT; /* the consumer calls it once; NULL = borrowed */
  void* owner;                                    /* for release */
  vn_str note;
} vn_tensor;

/* What to open. `path` names the file even when `bytes` holds an edited version of it. */
typedef struct vn_model {
  uint32_t struct_size;
  vn_str path;
  const void* bytes; /* NULL: read `path` */
  size_t byte_count;
  vn_str external_data_dir; /* where relative weight files are; empty: the folder of path */
  const vn_tensor* const*
      inputs; /* the signature as the host read it from the file; may be empty */
  size_t input_count;
  const vn_str* outputs; /* names of the graph's outputs in order, marked ones included */
  size_t output_count;
} vn_model;

/* What the host may use an option of `open` for. Of the roles that end in a file, the value is a
 * path, and the session has written the file by the time it is closed; the host copes with a
 * missing one. A file of layers is text, one line a layer: its seconds for one inference, its type
 * and its name, separated by tabs. */
enum {
  VN_ROLE_NONE = 0,
  /* A file of layers: how long each takes, for `vernier profile`. The session may be slower. */
  VN_ROLE_LAYER_TIMES = 1,
  /* A file of layers: which nodes of the model each computes, for `vernier blame`; seconds may be
   * 0. The name lists nodes, "conv1 + relu1", or has only the first or the last of them. */
  VN_ROLE_LAYER_NAMES = 2,
  /* The same, where every name lists all nodes of its layer. */
  VN_ROLE_LAYER_NODES = 3,
  /* The other way to answer `vernier blame`: a file with the model as the framework rewrote it, as
   * ONNX. */
  VN_ROLE_OPTIMIZED_MODEL = 4,
  /* The value is "1": no other runner computes meanwhile, so threads need not make way for it. */
  VN_ROLE_ALONE = 5
};

/* What the value of an option says, where the host can say it by itself: of an option of `open`
 * where the user has not set it, of an option of `create` in place of what the user has set. */
enum {
  VN_MEANS_NONE = 0,
  /* Of `open`: with how many threads the session computes. The host divides the processors between
   * the workers of a runner. */
  VN_MEANS_THREADS = 1,
  /* Of `open`: the shapes that inputs have in every feed to come, "x:[1,3,-1];y:[2]", where -1 is a
   * size that differs from feed to feed. Inputs whose shapes are not known are left out. */
  VN_MEANS_FEED_SHAPES = 2,
  /* Of `create`: the framework's library, or a folder where it is looked for, which may be that of
   * a Python environment (`--python`). */
  VN_MEANS_LIBRARY = 3,
  /* Of `create`: where the framework's warnings go. The host gives "host": to vn_host.log, one
   * call for each, as `vernier check lint` needs them. */
  VN_MEANS_LOG = 4,
  /* Of `open`: the method of a model that resets its state (`--reset`). */
  VN_MEANS_RESET_METHOD = 5
};

typedef struct vn_option_info {
  uint32_t struct_size; /* the room that the caller has; then what the plug-in filled of it */
  vn_str name, type, default_value, help;

  /* All values that the option takes, separated by spaces; empty: any of its type. Since 1.4. */
  vn_str values;
  /* Values that change how a session computes (the order of sums, which kernels run) but not what,
   * separated by spaces, the one that changes most first; empty: none. Since 1.4. */
  vn_str neutral;
  uint32_t role;  /* VN_ROLE_*; the host ignores those that it does not know. Since 1.4. */
  uint32_t means; /* VN_MEANS_*; likewise. Since 1.8. */
} vn_option_info;

typedef struct vn_session_info {
  uint32_t struct_size;
  vn_str precision; /* the arithmetic really used: "float32", "bfloat16", "mixed float16", ... */
  vn_str device;    /* "CPU", "GPU.0", ... */
} vn_session_info;

/* What else the host has to know of a backend; see traits. */
enum {
  /* `open` builds an engine for the sizes of the inputs, which takes long, and the times of kernels
   * decide what it becomes, so that no two engines need compute the same. The host opens a model
   * as rarely as it can, tries no other sizes, and divides no run between processes that would
   * each build their own; models of the type "engine" are built already. */
  VN_TRAIT_BUILDS_ENGINES = 1,
  /* Layers between quantisers are computed with bytes, by instructions whose sums saturate on some
   * processors. */
  VN_TRAIT_BYTE_KERNELS = 2,
  /* On x86 processors models of float16 are computed in float32, all but copies and layer
   * normalisations, while the session's precision is that of the model. */
  VN_TRAIT_WIDENS_FLOAT16 = 4,
  /* Operators that round to steps within themselves (DynamicQuantizeMatMul and its like) do so.
   * Backends without this read them as products of floats. */
  VN_TRAIT_ROUNDS_WITHIN = 8
};

/* Which outputs of a session may be its inputs where they lie; see feeds_back. */
enum { VN_FEEDS_BACK_CPU = 1, VN_FEEDS_BACK_CUDA = 2 };

typedef struct vn_run_stats {
  uint32_t struct_size;
  double inference_seconds; /* the framework's call alone, without copies */
} vn_run_stats;

/* What the host offers a plug-in. */
typedef struct vn_host {
  uint32_t struct_size, abi_major, abi_minor;
  void* self;
  vn_status* (*status_new)(void* self, int32_t code, vn_str message)VN_NOEXCEPT;
  void (*log)(void* self, int32_t severity, vn_str message) VN_NOEXCEPT; /* Python's levels */
  int32_t (*cancelled)(void* self) VN_NOEXCEPT;                          /* not 0: give up soon */

  /* During `run`: memory for one output of so many bytes, aligned to 64 and not cleared, which
   * saves the host a copy. The output that is made there begins at its start. NULL: use your own.
   * It is the host's again when `run` returns: it must not be touched any more. During `open`: the
   * same, for outputs of the first run whose size is known by then. Optional (may be NULL).
   * Since 1.2. */
  void* (*output_memory)(void* self, size_t byte_size)VN_NOEXCEPT;

  /* During `run`, when the inference goes on by itself: the inputs of this session's next `run`, if
   * they are here already, so that they can be on their way to a device before that. If there is a
   * next `run`, it has just these. The tensors are valid until this `run` returns, their data until
   * the next one does. NULL: they are not here, or were given before; what is not here yet may be
   * asked for again. Optional (may be NULL). Since 1.3. */
  const vn_tensor* const* (*next_inputs)(void* self, size_t* count)VN_NOEXCEPT;
} vn_host;

/* What a plug-in offers the host. */
typedef struct vn_backend_api {
  uint32_t struct_size, abi_major, abi_minor;
  vn_str name, version;

  /* Options that `create` and `open` understand. */
  vn_status* (*option_at)(size_t index, vn_option_info* out)VN_NOEXCEPT;

  /* Finds and loads the framework. UNAVAILABLE says why it cannot be used and how to install it. */
  vn_status* (*create)(const vn_host*, const vn_option*, size_t count, vn_backend** out)VN_NOEXCEPT;
  void (*destroy)(vn_backend*) VN_NOEXCEPT;

  vn_str (*framework_version)(vn_backend*) VN_NOEXCEPT;
  vn_str (*framework_path)(vn_backend*) VN_NOEXCEPT; /* the library that was loaded */

  vn_status* (*open)(vn_backend*, const vn_model*, const vn_option*, size_t count,
                     vn_session** out)VN_NOEXCEPT;
  void (*close)(vn_session*) VN_NOEXCEPT;

  vn_status* (*signature)(vn_session*, int32_t is_output, size_t index, vn_tensor* out)VN_NOEXCEPT;
  /* Optional (may be NULL). */
  vn_status* (*info)(vn_session*, vn_session_info* out)VN_NOEXCEPT;

  /* Requested outputs that the framework could not expose, and why. Optional (may be NULL). */
  vn_status* (*not_exposed_at)(vn_session*, size_t index, vn_str* name, vn_str* why)VN_NOEXCEPT;

  /* One inference. Inputs are read-only and stay the host's. The plug-in stores pointers to its
   * own tensors in outputs[0 .. *out_count), at most `capacity`; the host releases each. */
  vn_status* (*run)(vn_session*, const vn_tensor* const* inputs, size_t input_count,
                    vn_tensor** outputs, size_t capacity, size_t* out_count,
                    vn_run_stats* stats)VN_NOEXCEPT;

  /* How close the backend is to the definition of its operators: of two runners, `vernier blame`
   * takes the one with the lower rank as the reference. 0 means unknown, and comes last. Of
   * vernier's own, onnxref has 10, onnxruntime 20, and tensorrt, the last, 60. Optional (may be
   * NULL, as 0). Since 1.4. */
  uint32_t (*reference_rank)(vn_backend*) VN_NOEXCEPT;

  /* Environment variables of the process, set before the framework loads, that are as neutral as
   * vn_option_info.neutral: each item is one setting, "NAME=value" or several of them separated by
   * spaces. Optional (may be NULL). Since 1.4. */
  vn_status* (*neutral_environment_at)(vn_backend*, size_t index, vn_str* out)VN_NOEXCEPT;

  /* The parts of a sequence, map or optional, which are tensors with names of their own:
   *   NAME[]     the length of a sequence, an int64 scalar; NAME[0], NAME[1] ... its elements
   *   NAME{}     the number of keys of a map, an int64 scalar; NAME{KEY} the value of a key
   *   NAME?      whether an optional is there, a bool scalar; what it holds is called NAME
   * and so on within them: NAME[0]{KEY}. After `run`, part_at lists the parts of the output at this
   * place of `outputs`; if that is VN_DTYPE_SKIPPED, they are in its place, else beside it. Each
   * may be asked for once, before the next `run`, and the host releases it.
   * A backend with this function also takes inputs that its signature has as VN_DTYPE_SKIPPED with
   * a note: their parts are then among the inputs of `run`, in any order; NAME[] and NAME{} may be
   * left out where there are elements. Optional (may be NULL). Since 1.5. */
  vn_status* (*part_at)(vn_session*, size_t output, size_t index, vn_tensor** out)VN_NOEXCEPT;

  /* What the session keeps from one `run` to the next (variables, caches) is as it was after
   * `open`. NOT_FOUND: it keeps nothing. Called once behind `open`, which shows whether it does; if
   * so, again before each feed, or each sequence of steps. Optional (may be NULL, as NOT_FOUND).
   * Since 1.6. */
  vn_status* (*reset_session)(vn_session*)VN_NOEXCEPT;

  /* The state of a recurrent network without a copy: the host may hold outputs over further runs of
   * the session and give them to one of these as inputs, where they lie, with the name of an input.
   * VN_FEEDS_BACK_CPU, VN_FEEDS_BACK_CUDA or both, added up: of outputs in such memory, `run` takes
   * them so, and nothing writes to them before they are released, however many runs follow. The
   * host copies others. Called once after `open`. Optional (may be NULL, as 0). Since 1.7. */
  uint32_t (*feeds_back)(vn_session*) VN_NOEXCEPT;

  /* The models that `open` takes, separated by spaces: words of --model-type ("onnx", "frozen"),
   * endings of files that the host has no word for (".xml"), and "*" for any file whatever. The
   * host refuses others, but for those that it can convert: TensorFlow's, where "onnx" is listed
   * and they are not. Optional: where it is NULL or empty, the host passes on every model whose
   * type it knows and a framework of today reads. Since 1.8. */
  vn_str (*model_formats)(vn_backend*) VN_NOEXCEPT;

  /* VN_TRAIT_*, added up; the host ignores those that it does not know. Optional (may be NULL, as
   * 0). Since 1.8. */
  uint32_t (*traits)(vn_backend*) VN_NOEXCEPT;
} vn_backend_api;

#define VN_QUERY_SYMBOL "vn_backend_query"
/* NULL: the plug-in was built for another major version. */
typedef const vn_backend_api* (*vn_backend_query_fn)(const vn_host*);

#define VN_HAS(table, type, member)                                            \
  ((table)->struct_size >= offsetof(type, member) + sizeof((table)->member) && \
   (table)->member != NULL)

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VERNIER_BACKEND_ABI_H_ */
