"""Compares what two sides say of the next token, by position and by the number of the token.

    vernier run --runner … --runner … --load-inputs prompt.npz \\
        --compare-func-script compare_tokens.py

Each side gives `logits` [batch, positions, vocabulary], or `token_ids` and `logprobs` [batch,
positions, k] of its best tokens, as servers do. For two sides with logits, `--compare logits` says
more.

Compared at each position are the tokens that both sides know, and the sum of all others as one
class. The KL divergence of that is at most the real one: what is among the others is not seen, and
the log says which share of the first side's probability that is. A position where both know no
token in common fails. So does a mean divergence above KL_THRESHOLD, a share of equal best tokens
below TOP1_THRESHOLD, NaN, and what are no logprobs: above 0, probabilities that sum to more than 1,
a token that is listed twice. A flip whose margin is below the RMS difference of the tokens that
neither side has first is close and does not count.

Vocabularies of different sizes are an error (that of a server is in `vocabulary_size` or
`vocabulary`), and so is another order, where both sides give `vocabulary`; where they do not, the
log says that the order was not compared.
"""

import numpy as np

KL_THRESHOLD = 1e-3  # nats
TOP1_THRESHOLD = 1.0
LEAST_REST = 1e-9  # servers round logprobs, so what is left of 1 may be a little below 0
MOST_LOGPROB = 1e-6
MOST_SUM = 1 + 1e-3

warned = set()


def warn_once(text):
    if text not in warned:
        warned.add(text)
        print(f"[W] {text}")


class Side:
    """One iteration of one runner: `size` is of its vocabulary, where it is known."""

    def __init__(self, outputs, fallback):
        self.name = getattr(outputs, "runner_name", None) or fallback
        self.vocabulary = outputs.get("vocabulary")
        self.size = None if self.vocabulary is None else len(self.vocabulary)
        if "vocabulary_size" in outputs:
            self.size = int(outputs["vocabulary_size"])
        self.ids = None
        if "logits" in outputs:
            rows = np.asarray(outputs["logits"], np.float64)
            self.positions = rows.shape[:-1]
            self.rows = rows.reshape(-1, rows.shape[-1])
            self.check_size(rows.shape[-1])
            self.size = rows.shape[-1]
        elif "logprobs" in outputs and "token_ids" in outputs:
            rows = np.asarray(outputs["logprobs"], np.float64)
            ids = np.asarray(outputs["token_ids"])
            self.positions = rows.shape[:-1]
            self.rows, self.ids = (part.reshape(-1, rows.shape[-1]) for part in (rows, ids))
        else:
            raise ValueError(f"'{self.name}' has neither 'logits' nor 'token_ids' and 'logprobs'; "
                             f"its outputs are {', '.join(outputs)}")

    def check_size(self, classes):
        if self.size is not None and self.size != classes:
            raise ValueError(f"'{self.name}' has logits of {classes} tokens, and a vocabulary of "
                             f"{self.size}")

    def best(self, row):
        """Numbers of tokens, in their order, and their logprobs."""
        values = self.rows[row]
        if self.ids is None:
            most = np.max(values)
            with np.errstate(invalid="ignore"):
                return np.arange(values.size), values - most - np.log(np.sum(np.exp(values - most)))
        known = self.ids[row] >= 0
        order = np.argsort(self.ids[row][known], kind="stable")
        return self.ids[row][known][order], values[known][order]

    def best_is_known(self, row):
        return self.ids is None or self.ids[row, np.argmax(self.rows[row])] >= 0

    def impossible(self, row):
        """Why the values of a position are no logprobs of tokens; empty where they may be."""
        if self.ids is None:
            return ""
        values, ids = self.rows[row], self.ids[row]
        if np.isnan(values).any():
            return f"'{self.name}' has NaN for a token without a number"
        worst = int(np.argmax(values))
        if values[worst] > MOST_LOGPROB:
            return f"'{self.name}' has {values[worst]:.6g} for token {ids[worst]}, which is above 0"
        total = float(np.sum(np.exp(values)))
        if total > MOST_SUM:
            return f"the probabilities of '{self.name}' sum to {total:.6g}"
        listed, counts = np.unique(ids[(ids >= 0) & (values > -np.inf)], return_counts=True)
        if np.any(counts > 1):
            return f"'{self.name}' lists token {listed[np.argmax(counts)]} twice"
        return ""

    def unknown(self):
        """Tokens that the server listed, and whose number nobody knows."""
        return 0 if self.ids is None else int(np.sum((self.ids < 0) & (self.rows > -np.inf)))


def check_vocabularies(a, b):
    """Raises where a token's number cannot mean the same on both sides."""
    if a.size is not None and b.size is not None and a.size != b.size:
        raise ValueError(f"the vocabulary of '{a.name}' has {a.size} tokens, that of '{b.name}' "
                         f"{b.size}: a number does not mean the same token")
    for side, other in ((a, b), (b, a)):
        if side.ids is None or other.size is None or side.ids.size == 0:
            continue
        if side.ids.max() >= other.size:
            raise ValueError(f"'{side.name}' lists token {side.ids.max()}, and the vocabulary of "
                             f"'{other.name}' has {other.size} tokens")
    if a.vocabulary is None or b.vocabulary is None:
        without = " and ".join(f"'{side.name}'" for side in (a, b) if side.vocabulary is None)
        warn_once(f"The order of the vocabularies was not compared: none from {without}")
        return
    different = np.flatnonzero(np.asarray(a.vocabulary) != np.asarray(b.vocabulary))
    if different.size:
        first = different[0]
        raise ValueError(
            f"vocabularies of another order: of {a.size} tokens of '{a.name}' and {b.size} of "
            f"'{b.name}' {different.size} differ, the first is token {first}: "
            f"{str(a.vocabulary[first])!r} against {str(b.vocabulary[first])!r}")


class Found:
    """What the positions of one iteration showed."""

    def __init__(self):
        self.divergences, self.tokens, self.seen = [], [], []
        self.nothing_in_common, self.nan = [], []
        self.impossible, self.why_impossible = [], ""  # that of the first
        self.flips = self.close = self.best_compared = 0
        self.largest = (0.0, None, None)  # difference, position, token

    def position(self, place, a, b, best_is_known, impossible):
        if np.isnan(a[1]).any() or np.isnan(b[1]).any():
            self.nan.append(place)
            return
        if impossible:
            self.why_impossible = self.why_impossible or impossible
            self.impossible.append(place)
            return
        common, at_a, at_b = np.intersect1d(a[0], b[0], return_indices=True)
        if common.size == 0:
            self.nothing_in_common.append(place)
            return
        p, q = a[1][at_a], b[1][at_b]
        self.divergences.append(divergence(p, q))
        self.tokens.append(common.size)
        self.seen.append(min(1.0, float(np.sum(np.exp(p)))))
        finite = np.isfinite(p) & np.isfinite(q)
        differences = np.where(finite, np.abs(np.where(finite, p, 0) - np.where(finite, q, 0)), 0)
        worst = int(np.argmax(differences))
        if differences[worst] > self.largest[0]:
            self.largest = (float(differences[worst]), place, int(common[worst]))
        if best_is_known:
            self.top1(a, b, common, differences)

    def top1(self, a, b, common, differences):
        self.best_compared += 1
        first, second = a[0][np.argmax(a[1])], b[0][np.argmax(b[1])]
        if first == second:
            return
        self.flips += 1
        others = differences[(common != first) & (common != second)]
        if second in a[0] and others.size:
            margin = np.max(a[1]) - a[1][a[0] == second][0]
            self.close += bool(margin < np.sqrt(np.mean(others ** 2)))

    def compared(self):
        return len(self.divergences)

    def divergence_passed(self):
        return bool(self.divergences and np.mean(self.divergences) <= KL_THRESHOLD)

    def best_passed(self):
        if not self.best_compared:
            return False
        return 1 - (self.flips - self.close) / self.best_compared >= TOP1_THRESHOLD

    def passed(self):
        if self.nan or self.impossible or self.nothing_in_common:
            return False
        return self.divergence_passed() and self.best_passed()


def divergence(p, q):
    """Of the listed tokens and of all others as one class, in nats, from logprobs."""
    masked = np.isneginf(p)
    if np.any(~masked & np.isneginf(q)):
        return np.inf
    listed = np.sum(np.exp(p[~masked]) * (p[~masked] - q[~masked]))
    rest = [max(LEAST_REST, 1 - float(np.sum(np.exp(side)))) for side in (p, q)]
    return max(0.0, float(listed + rest[0] * np.log(rest[0] / rest[1])))


def report(found, a, b):
    positions = len(a.rows)
    print(f"'{a.name}' and '{b.name}': {found.compared()} of {positions} positions compared")
    for side in (a, b):
        if side.unknown():
            print(f"[W] {side.unknown()} tokens that '{side.name}' lists are in no vocabulary: "
                  "they were not compared by themselves")
    for places, what in ((found.nan, "NaN"), (found.nothing_in_common, "no token in common")):
        if places:
            print(f"[E] {what} at {len(places)} positions, the first is {places[0]} | FAILED")
    if found.impossible:
        print(f"[E] No logprobs at {len(found.impossible)} positions, the first is "
              f"{found.impossible[0]}: {found.why_impossible} | FAILED")
    if not found.divergences:
        return
    size = a.size or b.size
    of = "" if size is None else f" of {size}"
    only = "" if min(found.tokens) == size else "[W] Only "
    print(f"{only}{min(found.tokens)}{of} tokens of each position, or more, were compared by "
          f"themselves: {100 * min(found.seen):.4g} % or more of the probability of '{a.name}'; "
          "the rest is one sum")
    mean, most = np.mean(found.divergences), int(np.argmax(found.divergences))
    letter = "" if found.divergence_passed() else "[E] "
    print(f"{letter}KL divergence of that: mean {mean:.4g} (tolerance: {KL_THRESHOLD:g}), largest "
          f"{found.divergences[most]:.4g}; that of the whole vocabulary is this or more")
    if found.largest[1] is not None:
        print(f"Largest difference of a logprob: {found.largest[0]:.4g} at position "
              f"{found.largest[1]}, token {found.largest[2]}")
    if found.best_compared < found.compared():
        print(f"[W] At {found.compared() - found.best_compared} positions the best token is in no "
              "vocabulary: best tokens were not compared there")
    letter = "" if found.best_passed() else "[E] "
    print(f"{letter}Best token equal: {found.best_compared - found.flips} of {found.best_compared}"
          f" (min required: {TOP1_THRESHOLD:g}), {found.close} of {found.flips} flips close")


def compare_outputs(first, second):
    a, b = Side(first, "the first side"), Side(second, "the second side")
    check_vocabularies(a, b)
    if a.positions != b.positions:
        raise ValueError(f"'{a.name}' has positions {list(a.positions)}, '{b.name}' "
                         f"{list(b.positions)}")
    found = Found()
    for row in range(len(a.rows)):
        found.position(row, a.best(row), b.best(row), a.best_is_known(row) and b.best_is_known(row),
                       a.impossible(row) or b.impossible(row))
    report(found, a, b)
    # Beside a list of the best tokens, most of the logits are not compared: no verdict on those.
    names = ("logits",) if a.ids is None and b.ids is None else ("token_ids", "logprobs")
    verdicts = {name: found.passed() for name in names}
    # Or it was an error.
    if a.vocabulary is not None and b.vocabulary is not None:
        verdicts["vocabulary"] = True
    if a.size is not None and b.size is not None:
        verdicts.update({"vocabulary_size": True for side in (first, second)
                         if "vocabulary_size" in side})
    return verdicts
