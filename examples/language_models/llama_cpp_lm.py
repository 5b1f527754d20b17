"""A GGUF model under llama.cpp, through llama-cpp-python.

    pip install llama-cpp-python
    vernier run --runner 'gguf=llama_cpp_lm.py model.gguf' --runner 'ort=onnxrt model.onnx' \\
        --load-inputs prompt.npz --compare logits:logits --lenient

Not tried with llama-cpp-python itself: it was written from its documentation, and CI has a stand-in
with the few calls used here. The engine keeps the cache; it is emptied before each feed, or with
--steps before each sequence. A GGUF file that is quantised differs from its origin: choose
--logits-kl-threshold for that.
"""

import numpy as np
from causal_lm import CausalModel, including_vocabulary, one_prompt, required

llama_cpp = required("llama_cpp", "llama-cpp-python")

MAX_LENGTH = 2048  # tokens of a sequence


class LlamaCpp(CausalModel):
    def __init__(self, path):
        super().__init__()
        self.model = llama_cpp.Llama(path, n_ctx=MAX_LENGTH, logits_all=True, verbose=False)

    def reset_states(self):
        self.model.reset()

    def forward(self, feed):
        before = self.model.n_tokens
        self.model.eval(one_prompt(feed))
        # A copy: the next call writes to the same rows.
        return {"logits": np.array(self.model.scores[None, before:self.model.n_tokens])}

    def tokens(self):
        texts = [self.model.detokenize([token], special=True)
                 for token in range(self.model.n_vocab())]
        return [text.decode(errors="backslashreplace") for text in texts]


def load(model_path):
    return LlamaCpp(model_path)


def with_vocabulary(model_path):
    return including_vocabulary(load(model_path))
