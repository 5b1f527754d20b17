"""The command lines whose calls of TensorRT are recorded, and how they are run."""

import os
import shlex
import subprocess

# One after another in one folder: some read what another has written.
CASES = {
    "identity": "run identity.onnx --trt",
    "input_shapes": "run identity.onnx --trt --input-shapes x:[1,2,4,4] --iterations 2",
    "profile": "run identity.onnx --trt --trt-min-shapes x:[1,2,1,1] --trt-opt-shapes x:[1,2,3,3]"
               " --trt-max-shapes x:[1,2,8,8] --input-shapes x:[1,2,3,3]",
    "opt_beyond_max": "run identity.onnx --trt --trt-min-shapes x:[1,2,1,1] --trt-max-shapes"
                    " x:[1,2,3,3] --trt-min-shapes x:[1,2,4,4] --trt-opt-shapes x:[1,2,5,5]"
                    " --trt-max-shapes x:[1,2,6,6] --optimization-profile 1"
                    " --input-shapes x:[1,2,6,6]",
    "shape_tensor": "run expand.onnx --trt --val-range shape:[6,6] --trt-min-shapes shape:[1,6]"
                    " --trt-opt-shapes shape:[6,6] --trt-max-shapes shape:[8,6]",
    "data_dependent": "run places.onnx --trt --iterations 2",
    "fp16": "run conv.onnx --trt --fp16",
    "tf32": "run conv.onnx --trt --tf32",
    "int8": "run conv.onnx --trt --int8 --fp16 --iterations 2",
    "int8_minmax": "run conv.onnx --trt --int8 --calib-base-cls IInt8MinMaxCalibrator"
                   " --quantization-flags calibrate_before_fusion",
    "int8_legacy": "run conv.onnx --trt --int8 --calib-base-cls IInt8LegacyCalibrator"
                   " --quantile 0.9 --regression-cutoff 0.2",
    "obeyed_precisions": "run conv.onnx --trt --fp16 --precision-constraints obey"
                         " --layer-precisions conv:float16 relu:float32",
    "preferred_precisions": "run matmul.onnx --trt --fp16 --precision-constraints prefer"
                            " --layer-precisions first:float16",
    "mark_all": "run matmul.onnx --trt --trt-outputs mark all",
    "some_outputs": "run matmul.onnx --trt --trt-outputs 'b' y --trt-exclude-outputs y",
    "outputs_by_type": "run conv.onnx --trt --trt-outputs-by-type ACTIVATION",
    "direct_io": "run conv.onnx --trt --fp16 --tensor-dtypes x:float16 y:float16"
                    " --tensor-formats x:[linear,chw2] --direct-io",
    "all_formats": "run conv.onnx --trt --fp16 --all-tensor-dtypes float16"
                   " --all-tensor-formats linear hwc8",
    "pools_and_sources": "run conv.onnx --trt --pool-limit workspace:256M --sparse-weights"
                         " --tactic-sources edge_mask_convolutions jit_convolutions",
    "preview": "run matmul.onnx --trt --preview-features faster_dynamic_shapes_0805"
               " --profiling-verbosity layer_names_only --refittable",
    "no_preview": "run matmul.onnx --trt --preview-features --trt-safety-restricted",
    "dla_fallback": "run conv.onnx --trt --use-dla --allow-gpu-fallback --fp16",
    "profile_memory": "run conv.onnx --trt --allocation-strategy profile --iterations 2",
    "save_files": "run conv.onnx --trt --save-engine conv.engine --save-timing-cache timings",
    "load_timings": "run conv.onnx --trt --load-timing-cache timings",
    "load_engine": "run conv.engine --model-type engine --trt",
    "lone_runner": "run conv.engine --model-type engine --trt --iterations 8 --warm-up 1",
    "save_tactics": "run conv.onnx --trt --save-tactics tactics.json",
    "convert": "convert matmul.onnx -o matmul.engine --fp16",
    "onnx_flags": "run matmul.onnx --trt --onnx-flags native_instancenorm",
    "fp8": "run matmul.onnx --trt --fp8",
    # Two builds by one builder, the second one with the timings of the first.
    "kept_builder": "debug precision conv.onnx --fp16 --max-checks 2 --check false"
                    " polygraphy_debug.engine",
}

# Options that came after TensorRT 8.5, with values for them.
NEWER = {
    "--bf16": "", "--fp8": "", "--strip-plan": "", "--version-compatible": "",
    "--error-on-timing-cache-miss": "", "--disable-compilation-cache": "",
    "--weight-streaming": "", "--strongly-typed": "", "--decomposable-attentions": "",
    "--mark-debug": "y", "--mark-unfused-tensors-as-debug-tensors": "", "--plugin-instancenorm": "",
    "--enable-uint8-asymmetric-quantization-dla": "", "--onnx-flags": "native_instancenorm",
    "--builder-optimization-level": "3", "--max-aux-streams": "2",
    "--hardware-compatibility-level": "ampere_plus", "--runtime-platform": "same_as_build",
    "--tiling-optimization-level": "full", "--weight-streaming-budget": "50%",
    "--allocation-strategy": "runtime", "--dla-workspace-allocation-strategy": "shared_static",
    "--load-runtime": "x.so",
}
# Options with words of TensorRT's, and one that it does not have.
UNKNOWN = {
    "--tactic-sources": "nonsense", "--preview-features": "nonsense",
    "--quantization-flags": "nonsense", "--profiling-verbosity": "nonsense",
    "--pool-limit": "nonsense:1G", "--hardware-compatibility-level": "nonsense",
    "--trt-outputs-by-type": "nonsense", "--tensor-dtypes": "x:nonsense",
    "--tensor-formats": "x:nonsense",
}


def read_by(line):
    """The recorded files that a command line reads."""
    words = line.split()
    return [name for name in ("conv.engine", "timings")
            if name in words and words[words.index(name) - 1] in ("run", "--load-timing-cache")]


def run(vernier, library, folder, line, trace, **environment):
    """Runs a command line with the tracing library in TensorRT's place."""
    words = shlex.split(line)
    ends = [i + (word == "--trt") for i, word in enumerate(words) if word in ("--trt", "--check")]
    place = ends[0] if ends else len(words)
    words[place:place] = ["--trt-lib", str(library)]
    return subprocess.run([str(vernier), *words], cwd=folder, capture_output=True, text=True,
                          timeout=300, check=False,
                          env={**os.environ, **environment, "VERNIER_TRT_TRACE": str(trace)})
