"""Random command lines made from the real parser's options: well-formed, odd and wrong ones."""

import string

MODELS = ["m.onnx", "dir/model.onnx", "m.onnx:func", "e.engine", "a b.onnx", "mödel.onnx"]
ODD_WORDS = [
    "", " ", "-", "---", "----x", "--=", "--=x", "-=", "-x", "-5", "-.5", "-5.", "-1e5", "-5\n",
    "-0x1", "-v5", "-qx", "-vq=", "-v=1", "-h1", "--no", "--unknown", "--unknown=1", "-- x",
    "-v x", "--seed 5", "--seed=5 6", "-foo", "-seed", "=", "a=b", "x:[1,2]", "'q'", '"', "\\",
    "tab\there", "é", "--é", "-é", "-vé", "*", "all", "mark", "mark all", "no-colors", "+5",
]  # fmt: skip
INTS = ["0", "1", "-3", "+7", " 12 ", "1_000", "007", "99999999999999999999999", "-0"]
BAD_INTS = ["x", "", "1.0", "1e3", "1__0", "_1", "0x10", "--5", "+-5", "1 2", "é", "- 5"]
FLOATS = ["0", "1.5", "-2", "-.5", "1e-3", "1E+400", "inf", "-inf", "nan", "Infinity", "1_0.5",
          " 2.5 ", "5.", ".5", "1e-400"]  # fmt: skip
BAD_FLOATS = ["x", "", "1e", ".", "1,5", "0x1p3", "1_.5", "nan(1)", "e5", "--1", "1.5.5"]
STRINGS = ["a", "out:1e-3", "[0,1]", "x:[1,3]", "path/to.json", "-1", "-2.5", "50%", "*",
           "two words", "", "*conv", "mark", "all", "workspace:1G", "top-5,axis=1", "-", "=x",
           "a=b"]  # fmt: skip


class Generator:
    """Draws command lines; `is_ours` tells words that only our own names explain."""

    def __init__(self, rng, parser, is_ours):
        self.rng = rng
        self.actions = [a for a in parser._actions if a.option_strings and a.dest != "help"]
        self.names = [name for a in parser._actions for name in a.option_strings]
        self.is_ours = is_ours

    def line(self):
        words = []
        for _ in range(self.rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 7])):
            words += self.item()
        if self.rng.random() < 0.5:
            words.insert(self.rng.randrange(len(words) + 1), self.rng.choice(MODELS))
        return [word for word in words if not self.is_ours(word)]

    def item(self):
        draw = self.rng.random()
        if draw < 0.72:
            return self.option()
        if draw < 0.78:
            return [self.rng.choice(MODELS)]
        if draw < 0.82:
            return ["-" + "".join(self.rng.choices("vvvqqh5-x", k=self.rng.randint(1, 4)))]
        if draw < 0.84:
            return [self.rng.choice(["--tf", "--trt", "--onnxrt", "--pluginref", "--onnxrt"])]
        if draw < 0.86:
            return ["--"]
        if draw < 0.865:
            return [self.rng.choice(["-h", "--help", "--he"])]
        if draw < 0.875:
            rivals = ["--save-tactics=a", "--load-tactics=b", "--load-inputs=c",
                      "--data-loader-script=d"]  # fmt: skip
            return self.rng.sample(rivals, 2)
        if draw < 0.885:
            return ["--" + "".join(self.rng.choices(string.ascii_lowercase + "-", k=3))]
        return [self.rng.choice(ODD_WORDS)]

    def option(self):
        action = self.rng.choice(self.actions)
        name = self.name(action)
        values = self.values(action)
        if self.rng.random() < 0.25:
            first = values[0] if values else self.rng.choice(["", "1", "--"])
            return [name + "=" + first] + values[1:]
        return [name] + values

    def name(self, action):
        name = self.rng.choice(action.option_strings)
        draw = self.rng.random()
        if draw < 0.7 or len(name) < 4:
            return name
        if draw < 0.97:
            return name[: self.rng.randint(3, len(name))]
        at = self.rng.randrange(2, len(name))
        return name[:at] + self.rng.choice("-abexz") + name[at:]

    def values(self, action):
        """Mostly as many good values as the option takes, sometimes too few, too many or bad."""
        if self.rng.random() < 0.06:
            count = self.rng.choice([0, 1, 2, 4])
        elif action.nargs == 0:
            count = 0
        elif action.nargs is None:
            count = 1
        elif action.nargs == "?":
            count = self.rng.choice([0, 1])
        else:
            count = self.rng.choice([0, 1, 2, 3] if action.nargs == "*" else [1, 1, 2, 3])
        return [self.value(action) for _ in range(count)]

    def value(self, action):
        draw = self.rng.random()
        if draw < 0.02:
            return self.rng.choice(ODD_WORDS + ["--"])
        if draw < 0.03:
            return self.rng.choice(self.names)
        good, bad = STRINGS, ODD_WORDS
        if action.type is int:
            good, bad = INTS, BAD_INTS
        elif action.type is float:
            good, bad = FLOATS, BAD_FLOATS
        elif action.choices:
            good, bad = list(action.choices), STRINGS
        return self.rng.choice(bad if draw > 0.96 else good)
