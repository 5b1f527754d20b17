"""What the language models of this folder have in common, and what yours may take over.

A side gives, for the tokens `input_ids` [batch, n] that it is fed, either `logits` [batch, n,
vocabulary], or, where it knows only the best tokens of each position, `token_ids` and `logprobs`
[batch, n, k], with -1 and -inf where it gave fewer than k.

`load` gives just these outputs. `with_vocabulary` adds `vocabulary`: the text of each token in the
order of their numbers, for compare_tokens.py, which checks with it that both sides mean the same by
a number.
"""

import importlib

import numpy as np


def required(module, package):
    """The module; where it is missing, the error says which package to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ModuleNotFoundError(f"there is no module '{module}': pip install {package}",
                                  name=module) from None


class CausalModel:
    """A sequence of tokens; the cache stays inside from call to call.

    A model of yours has `forward(feed)`, which gives the outputs for the new tokens and goes on
    from the cache; `reset_states()`, behind which the cache is empty; and `tokens()`, the texts of
    its vocabulary, or None.
    """

    input_metadata = {"input_ids": ("int64", (1, None))}

    def __init__(self):
        self.vocabulary = None  # in the outputs where it is not

    def forward(self, feed):
        raise NotImplementedError

    def reset_states(self):
        raise NotImplementedError

    def tokens(self):
        return None

    def infer(self, feed):
        outputs = self.forward(feed)
        return outputs if self.vocabulary is None else {**outputs, "vocabulary": self.vocabulary}


def one_prompt(feed):
    """The new tokens as a list of numbers; one prompt at a time."""
    ids = np.asarray(feed["input_ids"])
    if ids.ndim != 2 or ids.shape[0] != 1:
        raise ValueError(f"'input_ids' has shape {list(ids.shape)}; expected [1, tokens]: feed the "
                         "prompts one by one")
    return [int(token) for token in ids[0]]


def including_vocabulary(model):
    """The same model with its vocabulary among its outputs."""
    tokens = model.tokens()
    if not tokens:
        raise ValueError("this model has no list of its tokens: use it without ':with_vocabulary'")
    model.vocabulary = np.array(tokens)
    return model


def padded(tokens, classes):
    """As many texts as the logits have classes: many models have more, and no token for them."""
    return list(tokens) + [""] * (classes - len(tokens))
