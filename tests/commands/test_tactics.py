"""vernier inspect tactics and diff-tactics, held against the peer's lines."""

import json

from program import Case


def replay(**layers):
    """Layer names and their (implementation, tactic): without tensors Polygraphy needs no TensorRT."""
    return {"replay": {name: {"implementation": implementation, "tactic": tactic, "inputs": [],
                              "outputs": [], "polygraphy_class": "Algorithm"}
                       for name, (implementation, tactic) in layers.items()},
            "polygraphy_class": "TacticReplayData"}


class Tactics(Case):
    def save(self, name, document):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))

    def same(self, *words):
        theirs, ours = self.peer(*words), self.lenient(*words)
        self.assertEqual((theirs.code, ours.code), (0, 0), ours.err)

        def seen(ended):
            # Polygraphy reads a folder's files in the order of the disk, and each that is no replay
            # is a critical line, without its name and without consequences.
            passing = ("[I] Loading tactic replay file from ", "[!] Provided JSON cannot be decoded")
            return [line for line in ended.lines() if "diff" not in words[1] or
                    not line.startswith(passing)]

        self.assertEqual(seen(ours), seen(theirs))
        return ours

    def test_one_replay(self):
        self.save("r.json", replay(conv=(1, -5), relu=(2147483657, 0)))
        self.assertIn("Layer: conv", self.same("inspect", "tactics", "r.json").out)

    def test_tensors(self):
        made = replay(conv=(1, 2))
        made["replay"]["conv"]["inputs"] = [{
            "dtype": "DataType.FLOAT", "strides": [12, 4, 1], "vectorized_dim": -1,
            "components_per_element": 1, "polygraphy_class": "TensorInfo"}]
        self.save("r.json", made)
        self.assertIn("Algorithm: (Implementation: 1, Tactic: 2) | Inputs: (TensorInfo("
                      "DataType.FLOAT, (12, 4, 1), -1, 1),) | Outputs: ()",
                      self.vernier("inspect", "tactics", "r.json").out)

    def test_what_only_bad_ones_use(self):
        self.save("good/a.json", replay(conv=(1, 1), relu=(2, 2)))
        self.save("good/deep/b.json", replay(conv=(1, 3), relu=(2, 2)))
        self.save("bad/c.json", replay(conv=(1, 3), relu=(2, 4), new=(5, 5)))
        self.save("bad/noise.json", {"a": 1})
        said = self.same("inspect", "diff-tactics")
        self.assertIn("Layer: relu", said.out)
        self.assertNotIn("Layer: conv", said.out)
        self.assertIn("bad/noise.json does not look like a tactic replay file, skipping.",
                      self.vernier("inspect", "diff-tactics", "-v").out)
        self.same("inspect", "diff-tactics", "--good", "good/deep", "--bad", "bad/c.json")
        self.same("inspect", "diff-tactics", "--dir", ".")

    def test_json(self):
        self.save("good/a.json", replay(conv=(1, 1), relu=(2, 2)))
        self.save("bad/c.json", replay(conv=(1, 1), relu=(2, 4)))
        seen = json.loads(self.vernier("inspect", "tactics", "bad/c.json", "--format", "json").out)
        self.assertEqual([each["layer"] for each in seen], ["conv", "relu"])
        self.assertIn("Tactic: 4", seen[1]["algorithm"])
        seen = json.loads(self.vernier("inspect", "diff-tactics", "--format", "json").out)
        self.assertEqual([each["layer"] for each in seen["only_in_bad"]], ["relu"])
        self.assertEqual((len(seen["good"]), len(seen["bad"])), (1, 1))
        ended = self.vernier("inspect", "diff-tactics", "--format", "json", "--good", "none")
        self.assertEqual(ended.code, 3)
        self.assertEqual(json.loads(ended.out)["good"], [])
        # Without a good one everything would look bad.
        ended = self.vernier("inspect", "diff-tactics", "--good", "none")
        self.assertEqual(ended.code, 3)
        self.assertIn("nothing was compared", ended.err)
        # Polygraphy warns and leaves it at that.
        ended = self.lenient("inspect", "diff-tactics", "--good", "none")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn("There is no tactic replay in 'none'", ended.out)

    def test_bad_input(self):
        self.save("r.json", {"a": 1})
        ended = self.vernier("inspect", "tactics", "r.json")
        self.assertEqual(ended.code, 3)
        self.assertIn("cannot be decoded into a TacticReplayData", ended.err)
        ended = self.vernier("inspect", "diff-tactics")
        self.assertEqual(ended.code, 3)
        self.assertIn("nothing was compared", ended.err)
