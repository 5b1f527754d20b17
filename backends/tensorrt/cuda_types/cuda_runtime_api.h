// All that TensorRT's headers (8.5 to 11) use of CUDA's `cuda_runtime_api.h`: the names of two
// pointers. With it the plug-in is compiled where no CUDA toolkit is installed. It calls nothing of
// the runtime library: CUDA's driver is opened when a run needs it (cuda_device.h).
#pragma once

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
