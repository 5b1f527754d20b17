/* The plug-in boundary compiles as C11, and no slot has moved. */
#include "vernier/backend_abi.h"

#include <assert.h>

#define SLOT(type, member, offset) \
  static_assert(offsetof(type, member) == (offset), #type "." #member " has moved")

SLOT(vn_tensor, shape, 8);
SLOT(vn_tensor, data, 16);
SLOT(vn_tensor, byte_size, 24);
SLOT(vn_tensor, name, 32);
SLOT(vn_tensor, dtype_code, 48);
SLOT(vn_tensor, device_type, 52);
SLOT(vn_tensor, sync, 64);
SLOT(vn_tensor, release, 72);
SLOT(vn_tensor, owner, 80);
SLOT(vn_tensor, note, 88);

SLOT(vn_model, path, 8);
SLOT(vn_model, bytes, 24);
SLOT(vn_model, external_data_dir, 40);
SLOT(vn_model, inputs, 56);
SLOT(vn_model, outputs, 72);

SLOT(vn_option_info, name, 8);
SLOT(vn_option_info, type, 24);
SLOT(vn_option_info, default_value, 40);
SLOT(vn_option_info, help, 56);
SLOT(vn_option_info, values, 72);
SLOT(vn_option_info, neutral, 88);
SLOT(vn_option_info, role, 104);
SLOT(vn_option_info, means, 108);

SLOT(vn_host, self, 16);
SLOT(vn_host, status_new, 24);
SLOT(vn_host, log, 32);
SLOT(vn_host, cancelled, 40);
SLOT(vn_host, output_memory, 48);
SLOT(vn_host, next_inputs, 56);

SLOT(vn_backend_api, name, 16);
SLOT(vn_backend_api, version, 32);
SLOT(vn_backend_api, option_at, 48);
SLOT(vn_backend_api, create, 56);
SLOT(vn_backend_api, destroy, 64);
SLOT(vn_backend_api, framework_version, 72);
SLOT(vn_backend_api, framework_path, 80);
SLOT(vn_backend_api, open, 88);
SLOT(vn_backend_api, close, 96);
SLOT(vn_backend_api, signature, 104);
SLOT(vn_backend_api, info, 112);
SLOT(vn_backend_api, not_exposed_at, 120);
SLOT(vn_backend_api, run, 128);
SLOT(vn_backend_api, reference_rank, 136);
SLOT(vn_backend_api, neutral_environment_at, 144);
SLOT(vn_backend_api, part_at, 152);
SLOT(vn_backend_api, reset_session, 160);
SLOT(vn_backend_api, feeds_back, 168);
SLOT(vn_backend_api, model_formats, 176);
SLOT(vn_backend_api, traits, 184);

int main(void) { return VN_ABI_MAJOR == 1u ? 0 : 1; }
