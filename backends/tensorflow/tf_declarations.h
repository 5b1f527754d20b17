// What is used of TensorFlow's C interface (tensorflow/c/c_api.h), declared here: its ABI only
// grows, and so the plug-in is built on machines without TensorFlow's 1.5 GB. tests/tensorflow
// checks these lines against the wheel's headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vernier::tf {

struct TF_Status;
struct TF_Graph;
struct TF_Operation;
struct TF_Session;
struct TF_SessionOptions;
struct TF_ImportGraphDefOptions;
struct TF_Tensor;
struct TF_DeviceList;

struct TF_Buffer {
  const void* data;
  size_t length;
  void (*data_deallocator)(void* data, size_t length);
};
struct TF_Output {
  TF_Operation* oper;
  int index;
};
// Its size and alignment are the library's; only its functions look inside.
struct TF_TString {
  uint64_t words[3];
};
using TF_DataType = int;
using TF_Code = int;

const char* TF_Version(void);
TF_Status* TF_NewStatus(void);
void TF_DeleteStatus(TF_Status*);
TF_Code TF_GetCode(const TF_Status*);
const char* TF_Message(const TF_Status*);

TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len);
TF_Buffer* TF_NewBuffer(void);
void TF_DeleteBuffer(TF_Buffer*);

TF_Tensor* TF_NewTensor(TF_DataType, const int64_t* dims, int num_dims, void* data, size_t len,
                        void (*deallocator)(void* data, size_t len, void* arg),
                        void* deallocator_arg);
void TF_DeleteTensor(TF_Tensor*);
TF_DataType TF_TensorType(const TF_Tensor*);
int TF_NumDims(const TF_Tensor*);
int64_t TF_Dim(const TF_Tensor*, int index);
size_t TF_TensorByteSize(const TF_Tensor*);
void* TF_TensorData(const TF_Tensor*);
void TF_StringInit(TF_TString*);
void TF_StringCopy(TF_TString*, const char* src, size_t size);
void TF_StringDealloc(TF_TString*);
const char* TF_StringGetDataPointer(const TF_TString*);
size_t TF_StringGetSize(const TF_TString*);

TF_Graph* TF_NewGraph(void);
void TF_DeleteGraph(TF_Graph*);
TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions(void);
void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions*);
void TF_GraphImportGraphDef(TF_Graph*, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions*,
                            TF_Status*);
void TF_GraphToGraphDef(TF_Graph*, TF_Buffer* output_graph_def, TF_Status*);
TF_Operation* TF_GraphNextOperation(TF_Graph*, size_t* pos);
TF_Operation* TF_GraphOperationByName(TF_Graph*, const char* oper_name);
int TF_GraphGetTensorNumDims(TF_Graph*, TF_Output, TF_Status*);
void TF_GraphGetTensorShape(TF_Graph*, TF_Output, int64_t* dims, int num_dims, TF_Status*);

const char* TF_OperationName(TF_Operation*);
const char* TF_OperationOpType(TF_Operation*);
int TF_OperationNumOutputs(TF_Operation*);
TF_DataType TF_OperationOutputType(TF_Output);
int TF_OperationNumInputs(TF_Operation*);
int TF_OperationOutputNumConsumers(TF_Output);
int TF_OperationNumControlInputs(TF_Operation*);
int TF_OperationNumControlOutputs(TF_Operation*);

TF_SessionOptions* TF_NewSessionOptions(void);
void TF_SetConfig(TF_SessionOptions*, const void* proto, size_t proto_len, TF_Status*);
void TF_DeleteSessionOptions(TF_SessionOptions*);
TF_Session* TF_NewSession(TF_Graph*, const TF_SessionOptions*, TF_Status*);
TF_Session* TF_LoadSessionFromSavedModel(const TF_SessionOptions*, const TF_Buffer* run_options,
                                         const char* export_dir, const char* const* tags,
                                         int tags_len, TF_Graph*, TF_Buffer* meta_graph_def,
                                         TF_Status*);
void TF_CloseSession(TF_Session*, TF_Status*);
void TF_DeleteSession(TF_Session*, TF_Status*);
void TF_SessionRun(TF_Session*, const TF_Buffer* run_options, const TF_Output* inputs,
                   TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs,
                   TF_Tensor** output_values, int noutputs, const TF_Operation* const* target_opers,
                   int ntargets, TF_Buffer* run_metadata, TF_Status*);
TF_DeviceList* TF_SessionListDevices(TF_Session*, TF_Status*);
void TF_DeleteDeviceList(TF_DeviceList*);
int TF_DeviceListCount(const TF_DeviceList*);
const char* TF_DeviceListType(const TF_DeviceList*, int index, TF_Status*);

}  // namespace vernier::tf

#define VERNIER_TF_FUNCTIONS(X)     \
  X(TF_Version)                     \
  X(TF_NewStatus)                   \
  X(TF_DeleteStatus)                \
  X(TF_GetCode)                     \
  X(TF_Message)                     \
  X(TF_NewBufferFromString)         \
  X(TF_NewBuffer)                   \
  X(TF_DeleteBuffer)                \
  X(TF_NewTensor)                   \
  X(TF_DeleteTensor)                \
  X(TF_TensorType)                  \
  X(TF_NumDims)                     \
  X(TF_Dim)                         \
  X(TF_TensorByteSize)              \
  X(TF_TensorData)                  \
  X(TF_StringInit)                  \
  X(TF_StringCopy)                  \
  X(TF_StringDealloc)               \
  X(TF_StringGetDataPointer)        \
  X(TF_StringGetSize)               \
  X(TF_NewGraph)                    \
  X(TF_DeleteGraph)                 \
  X(TF_NewImportGraphDefOptions)    \
  X(TF_DeleteImportGraphDefOptions) \
  X(TF_GraphImportGraphDef)         \
  X(TF_GraphToGraphDef)             \
  X(TF_GraphNextOperation)          \
  X(TF_GraphOperationByName)        \
  X(TF_GraphGetTensorNumDims)       \
  X(TF_GraphGetTensorShape)         \
  X(TF_OperationName)               \
  X(TF_OperationOpType)             \
  X(TF_OperationNumOutputs)         \
  X(TF_OperationOutputType)         \
  X(TF_OperationNumInputs)          \
  X(TF_OperationOutputNumConsumers) \
  X(TF_OperationNumControlInputs)   \
  X(TF_OperationNumControlOutputs)  \
  X(TF_NewSessionOptions)           \
  X(TF_SetConfig)                   \
  X(TF_DeleteSessionOptions)        \
  X(TF_NewSession)                  \
  X(TF_LoadSessionFromSavedModel)   \
  X(TF_CloseSession)                \
  X(TF_DeleteSession)               \
  X(TF_SessionRun)                  \
  X(TF_SessionListDevices)          \
  X(TF_DeleteDeviceList)            \
  X(TF_DeviceListCount)             \
  X(TF_DeviceListType)
