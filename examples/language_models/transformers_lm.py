"""A causal language model of Hugging Face's transformers, in float32, with its cache.

    pip install transformers torch
    vernier run --runner 'hf=transformers_lm.py FOLDER' --runner 'ort=onnxrt model.onnx' \\
        --load-inputs prompt.npz --compare logits:logits --lenient

FOLDER is what save_pretrained wrote, or the name of a model that transformers has in its cache; it
is not downloaded. Without steps, a feed is one inference with an empty cache. With --steps and
--decode, the cache stays in the model and is emptied before each sequence. Prompts are fed without
padding: transformers counts positions by itself.

Tried with transformers 4.40.2 and torch 1.13 on a CPU. CI has a stand-in for both, with the few
calls that are used here.
"""

from causal_lm import CausalModel, including_vocabulary, padded, required

torch = required("torch", "torch")
transformers = required("transformers", "transformers")

OFFLINE = {"local_files_only": True}


class Transformers(CausalModel):
    input_metadata = {"input_ids": ("int64", ("batch", "tokens")),
                      "attention_mask": ("int64", ("batch", "all_tokens"))}

    def __init__(self, path):
        super().__init__()
        self.path = path
        model = transformers.AutoModelForCausalLM.from_pretrained(path, **OFFLINE)
        self.model = model.float().eval()
        self.device = str(self.model.device)
        self.precision = "float32"
        self.reset_states()

    def reset_states(self):
        self.cache = None

    def forward(self, feed):
        known = {name: torch.from_numpy(feed[name]).to(self.device) for name in self.input_metadata}
        with torch.no_grad():
            result = self.model(**known, past_key_values=self.cache, use_cache=True)
        self.cache = result.past_key_values
        return {"logits": result.logits}

    def tokens(self):
        tokenizer = transformers.AutoTokenizer.from_pretrained(self.path, **OFFLINE)
        texts = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        return padded([text or "" for text in texts], self.model.config.vocab_size)


def load(model_path):
    return Transformers(model_path)


def with_vocabulary(model_path):
    return including_vocabulary(load(model_path))
