"""A stand-in for a server with OpenAI's interface for completions, and its logprobs.

    language_model_server.py MODEL.onnx FOLDER [SECONDS]

Serves a causal model with caches (tests/data/causal_models.py) through onnx's reference evaluator
on a free port of localhost, writes its address to FOLDER/endpoint.json and the texts of its tokens
to FOLDER/vocabulary.json, and ends after SECONDS (60).
"""

import http.server
import json
import pathlib
import sys
import threading

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator


class CausalModel:
    """Logits of a whole prompt, or of what follows a past."""

    def __init__(self, path):
        model = onnx.load(path)
        self.evaluator = ReferenceEvaluator(model)
        self.outputs = [output.name for output in model.graph.output]
        dims = {value.name: value.type.tensor_type.shape.dim for value in model.graph.input}
        # Of one prompt, and no past.
        sizes = {name: [d.dim_value or (0 if axis else 1) for axis, d in enumerate(shape)]
                 for name, shape in dims.items() if name.startswith("past_key_values")}
        self.empty = {name: np.zeros(shape, np.float32) for name, shape in sizes.items()}

    def step(self, ids, past=None):
        """Logits [1, n, vocabulary], and the past of the next step."""
        past = past or self.empty
        length = next(iter(past.values())).shape[2]
        given = self.evaluator.run(None, {
            "input_ids": np.asarray(ids, np.int64), **past,
            "attention_mask": np.ones((1, length + len(ids[0])), np.int64),
            "position_ids": np.arange(length, length + len(ids[0]))[None]})
        named = dict(zip(self.outputs, given))
        return named["logits"], {name: named[name.replace("past_key_values", "present")]
                                 for name in past}


def texts(size):
    return [f" token{number}" for number in range(size)]


def log_softmax(row):
    row = np.asarray(row, np.float64) - np.max(row)
    return row - np.log(np.sum(np.exp(row)))


class Server:
    """`style` is how tokens are named: "id", "text", "token_id" or "mapping"."""

    def __init__(self, path, style="text", answer=None):
        self.model, self.style, self.answer = CausalModel(path), style, answer
        self.requests = []  # path, headers and body of each
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, dict(self.headers), body))
                status, text, headers = outer.answer or (200, outer.complete(body), {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1/completions"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def complete(self, body):
        logits, _ = self.model.step([body["prompt"]])
        logprobs = log_softmax(logits[0, -1])
        words = texts(logprobs.size)
        best = [int(token) for token in np.argsort(-logprobs)[:body["logprobs"]]]
        if self.style == "mapping":
            found = {"top_logprobs": [{words[token]: logprobs[token] for token in best}]}
            return json.dumps({"choices": [{"logprobs": found}]})
        entries = [{"token": f"token_id:{token}" if self.style == "token_id" else words[token],
                    "logprob": logprobs[token], **({"id": token} if self.style == "id" else {})}
                   for token in best]
        found = {"content": [{"token": words[best[0]], "top_logprobs": entries}]}
        return json.dumps({"choices": [{"logprobs": found}]})


def main(model, folder, seconds="60"):
    server = Server(model)
    folder = pathlib.Path(folder)
    size = server.model.step([[0]])[0].shape[-1]
    (folder / "vocabulary.json").write_text(json.dumps(texts(size)), encoding="utf-8")
    settings = {"url": server.url, "top": 20, "vocabulary": "vocabulary.json"}
    (folder / "endpoint.json").write_text(json.dumps(settings) + "\n", encoding="utf-8")
    server.thread.join(float(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
