"""Modules that have the few calls of a package that examples/language_models makes, over a small
model in onnx's reference evaluator. A call that the package would refuse fails here, too.
"""

TORCH = """
    import contextlib
    import numpy as np

    no_grad = contextlib.nullcontext

    class Tensor(np.ndarray):
        def to(self, device):
            return self

    def from_numpy(array):
        return array.view(Tensor)
    """
# A cache that comes from no call of its own, or a mask that does not fit it, is an error there too.
TRANSFORMERS = """
    import types
    import numpy as np
    from language_model_server import CausalModel, texts

    class Model:
        device = "cpu"

        def __init__(self, path):
            self.model = CausalModel(path)
            self.config = types.SimpleNamespace(vocab_size=64)

        def float(self):
            return self

        def eval(self):
            return self

        def __call__(self, input_ids, attention_mask, past_key_values, use_cache):
            assert use_cache
            logits, past = self.model.step(input_ids, past_key_values)
            length = next(iter(past.values())).shape[2]
            assert attention_mask.shape == (1, length), (attention_mask.shape, length)
            return types.SimpleNamespace(logits=logits, past_key_values=past)

    class AutoModelForCausalLM:
        @staticmethod
        def from_pretrained(path, local_files_only):
            assert local_files_only
            return Model(path)

    class Tokenizer:
        def __len__(self):
            return 60  # fewer than the model has classes

        def convert_ids_to_tokens(self, ids):
            return [texts(64)[number] for number in ids]

    class AutoTokenizer:
        @staticmethod
        def from_pretrained(path, local_files_only):
            return Tokenizer()
    """
GENAI = """
    from language_model_server import CausalModel as Model

    class GeneratorParams:
        def __init__(self, model):
            pass

        def set_search_options(self, max_length, do_sample):
            assert max_length >= 12 and not do_sample

    class Generator:
        def __init__(self, model, params):
            self.model, self.past = model, None

        def append_tokens(self, tokens):
            assert tokens.ndim == 1 and tokens.dtype == "int32"
            self.logits, self.past = self.model.step([tokens], self.past)

        def get_output(self, name):
            return {"logits": self.logits}[name]
    """
LLAMA_CPP = """
    import numpy as np
    from language_model_server import CausalModel, texts

    class Llama:
        def __init__(self, path, n_ctx, logits_all, verbose):
            assert logits_all
            self.model = CausalModel(path)
            self.scores = np.zeros((n_ctx, 64), np.float32)
            self.reset()

        def reset(self):
            self.n_tokens, self.past = 0, None

        def eval(self, tokens):
            logits, self.past = self.model.step([tokens], self.past)
            self.scores[self.n_tokens:self.n_tokens + len(tokens)] = logits[0]
            self.n_tokens += len(tokens)

        def n_vocab(self):
            return 64

        def detokenize(self, tokens, special):
            return texts(64)[tokens[0]].encode()
    """
