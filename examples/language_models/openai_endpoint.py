"""A server that completes text by OpenAI's interface and gives logprobs, as a side.

    vernier run --runner 'hf=transformers_lm.py:with_vocabulary FOLDER' \\
        --runner 'api=openai_endpoint.py:with_vocabulary endpoint.json' \\
        --load-inputs prompt.npz --compare-func-script compare_tokens.py

endpoint.json says where it is; nothing else is contacted, redirections are not followed and no
proxy is used:

    {"url": "http://127.0.0.1:8080/v1/completions", "model": "NAME", "top": 20,
     "vocabulary": "vocabulary.json", "key_environment": "OPENAI_API_KEY", "seconds": 60}

Only `url` is needed. `top` (20) is how many tokens of each position are wanted. `key_environment`
names the variable that holds a key. `vocabulary` is a file beside endpoint.json, a list of the
tokens' texts in the order of their numbers (or a mapping of texts to numbers, as vocab.json of a
tokenizer); it is needed if the server names tokens by text alone. A text that no token or several
tokens have gets the number -1. compare_tokens.py takes its length as the size of the vocabulary:
where the model has more classes than tokens, end the list with "" for those.

For each token that it is fed, the server gets the prompt up to there as numbers, and completes it
by one token. A prompt of n tokens is n requests. Sent are {"model", "prompt", "max_tokens": 1,
"temperature": 0, "logprobs": top}; read is `choices[0].logprobs`, either `content[0].top_logprobs`
(a list of {"token", "logprob" and, if the server has it, "id"}), or `top_logprobs[0]` (a mapping of
texts to logprobs). A text such as "token_id:17" is the token 17.

Tried against a stand-in for a server (tests/python/language_model_server.py), not against a real
one.
"""

import http.client
import json
import os
import re
import urllib.error
import urllib.request

import numpy as np
from causal_lm import CausalModel, including_vocabulary, one_prompt

SHOWN = 200  # characters of an answer that is of no use
MOST_TOKENS = 1 << 24  # of a vocabulary
MOST_TOP = 1 << 20


class NoRedirections(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # then the answer is an error with its status


class Endpoint(CausalModel):
    def __init__(self, path):
        super().__init__()
        settings = read_settings(path)
        self.url = settings["url"]
        self.name = settings.get("model", "")
        self.top = settings.get("top", 20)
        self.seconds = settings.get("seconds", 60)
        self.headers = {"Content-Type": "application/json"}
        if "key_environment" in settings:
            key = os.environ.get(settings["key_environment"])
            if not key:
                raise ValueError(f"{path}: the variable {settings['key_environment']} is not set")
            self.headers["Authorization"] = f"Bearer {key}"
        self.texts = None
        if "vocabulary" in settings:
            file = os.path.join(os.path.dirname(os.path.abspath(path)), settings["vocabulary"])
            self.texts = read_vocabulary(file)
        self.numbers = numbers_of(self.texts or [])
        self.opener = urllib.request.build_opener(NoRedirections, urllib.request.ProxyHandler({}))
        self.device = "server"
        self.reset_states()

    def tokens(self):
        return self.texts

    def reset_states(self):
        self.prompt = []

    def forward(self, feed):
        new = one_prompt(feed)
        ids = np.full((1, len(new), self.top), -1, np.int64)
        logprobs = np.full((1, len(new), self.top), -np.inf)
        for position, token in enumerate(new):
            self.prompt.append(token)
            best = sorted(self.ask(), key=lambda pair: -pair[1])[:self.top]
            for place, (number, logprob) in enumerate(best):
                ids[0, position, place] = number
                logprobs[0, position, place] = logprob
        outputs = {"token_ids": ids, "logprobs": logprobs}
        if self.texts is not None and self.vocabulary is None:
            outputs["vocabulary_size"] = np.array(len(self.texts))
        return outputs

    def ask(self):
        """(number, logprob) of the best next tokens behind the prompt so far."""
        body = {"prompt": self.prompt, "max_tokens": 1, "temperature": 0, "logprobs": self.top}
        if self.name:
            body["model"] = self.name
        answer = self.post(json.dumps(body).encode())
        try:
            found = json.loads(answer)["choices"][0]["logprobs"]
            content = found.get("content")
            if content:
                entries = content[0]["top_logprobs"]
            else:
                entries = [{"token": text, "logprob": logprob}
                           for text, logprob in found["top_logprobs"][0].items()]
            best = [(self.number_of(entry), float(entry["logprob"])) for entry in entries]
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError,
                RecursionError):
            best = []
        if not best:
            said = answer.decode(errors="replace")
            raise ValueError(f"{self.url} gave no logprobs: {said:.{SHOWN}}")
        self.check_numbers([number for number, _ in best])
        return best

    def check_numbers(self, numbers):
        for number in numbers:
            if not -1 <= number < MOST_TOKENS:
                raise ValueError(f"{self.url} lists token {number!s:.{SHOWN}}: expected the number "
                                 f"of a token, from 0 to {MOST_TOKENS - 1}")
            if number >= 0 and numbers.count(number) > 1:
                raise ValueError(f"{self.url} lists token {number} twice among the best of one "
                                 "position")

    def post(self, body):
        request = urllib.request.Request(self.url, body, self.headers)
        try:
            with self.opener.open(request, timeout=self.seconds) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            said = body_of(error).decode(errors="replace")
            raise ValueError(f"{self.url} answered {error.code}: {said}") from None
        except http.client.IncompleteRead as error:
            raise ValueError(f"{self.url} broke off in its answer, after {len(error.partial)} "
                             "bytes") from None
        except http.client.HTTPException as error:
            raise ValueError(f"{self.url} gave no answer: {error!r}") from None
        except OSError as error:
            raise ValueError(f"{self.url} cannot be reached: {error}") from None

    def number_of(self, entry):
        if isinstance(entry.get("id"), int):
            return entry["id"]
        text = entry["token"]
        named = re.fullmatch(r"token_id:(\d+)", text)
        if named:
            return int(named[1])
        if self.texts is None:
            raise TextsAlone(f"{self.url} names tokens by their text, such as {text!r}: "
                             "'vocabulary' has to say their numbers")
        return self.numbers.get(text, -1)


class TextsAlone(Exception):
    pass


def body_of(error):
    """The beginning of an answer that is an error."""
    try:
        return error.read(SHOWN)
    except (OSError, http.client.HTTPException):
        return b""


def read_json(path):
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file)
        except ValueError as error:  # also of what is no UTF-8
            raise ValueError(f"{path}: this is not JSON: {error}") from None


def read_settings(path):
    """What endpoint.json says, all of it of the right type."""
    settings = read_json(path)
    if not isinstance(settings, dict):
        raise ValueError(f"{path}: expected a JSON object with 'url', got {shown(settings)}")
    url = settings.get("url", "")
    if not isinstance(url, str) or not re.match(r"https?://", url):
        raise ValueError(f"{path}: 'url' is {shown(url)}; expected the address of completions, "
                         "http://… or https://…")
    for name in ("model", "vocabulary", "key_environment"):
        if not isinstance(settings.get(name, ""), str):
            raise ValueError(f"{path}: '{name}' is {shown(settings[name])}; expected a text")
    top, seconds = settings.get("top", 20), settings.get("seconds", 60)
    if type(top) is not int or not 1 <= top <= MOST_TOP:
        raise ValueError(f"{path}: 'top' is {shown(top)}; expected how many tokens of each "
                         f"position are wanted, a whole number from 1 to {MOST_TOP}")
    if type(seconds) not in (int, float) or not 0 < seconds < 1e6:
        raise ValueError(f"{path}: 'seconds' is {shown(seconds)}; expected how long to wait for an "
                         "answer, a number above 0 and below 1e6")
    return settings


def shown(value):
    return f"{value!r:.{SHOWN}}"


def read_vocabulary(path):
    """The texts of all tokens in the order of their numbers."""
    texts = read_json(path)
    if isinstance(texts, dict):
        numbers = texts.values()
        if any(type(number) is not int or not 0 <= number < MOST_TOKENS for number in numbers):
            raise ValueError(f"{path}: expected a mapping of texts to the numbers of tokens")
        by_number = {number: text for text, number in texts.items()}
        texts = [by_number.get(number, "") for number in range(max(by_number, default=-1) + 1)]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{path}: expected a list of the tokens' texts, or a mapping of texts to "
                         "their numbers")
    return texts


def numbers_of(texts):
    """Text to number, without the texts that several tokens have."""
    numbers, twice = {}, set()
    for number, text in enumerate(texts):
        if text in numbers:
            twice.add(text)
        numbers[text] = number
    return {text: number for text, number in numbers.items() if text not in twice}


def load(model_path):
    return Endpoint(model_path)


def with_vocabulary(model_path):
    return including_vocabulary(load(model_path))
