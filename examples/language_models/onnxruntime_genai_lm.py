"""A language model under onnxruntime-genai, by the logits that its engine computes.

    pip install onnxruntime-genai
    vernier run --runner 'genai=onnxruntime_genai_lm.py FOLDER' --runner 'ort=onnxrt model.onnx' \\
        --load-inputs prompt.npz --compare logits:logits --lenient

FOLDER has genai_config.json beside the model. The engine keeps the cache; it is emptied before each
feed, or with --steps before each sequence. It gives no list of its tokens, so there is no
`with_vocabulary`.

Tried with onnxruntime-genai 0.18.0 on a CPU. CI has a stand-in with the few calls used here.
"""

import numpy as np
from causal_lm import CausalModel, one_prompt, required

og = required("onnxruntime_genai", "onnxruntime-genai")

MAX_LENGTH = 2048  # tokens of a sequence, at most what genai_config.json allows


class Genai(CausalModel):
    def __init__(self, path):
        super().__init__()
        self.model = og.Model(path)
        self.reset_states()

    def reset_states(self):
        parameters = og.GeneratorParams(self.model)
        parameters.set_search_options(max_length=MAX_LENGTH, do_sample=False)
        self.generator = og.Generator(self.model, parameters)

    def forward(self, feed):
        self.generator.append_tokens(np.array(one_prompt(feed), np.int32))
        return {"logits": np.array(self.generator.get_output("logits"))}


def load(model_path):
    return Genai(model_path)
