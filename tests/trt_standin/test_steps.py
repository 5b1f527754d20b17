"""Steps with the plug-in of TensorRT 10 and the library that stands in for it (test_standin.py)."""

import json
import unittest

import numpy as np

from test_standin import StandIn


class Steps(StandIn):
    def test_a_state_stays_on_the_device(self):
        """The next step reads it where this one wrote it, one of two places by turns."""
        values = np.random.default_rng(3).normal(size=(1, 2, 300, 300)).astype("f4")
        np.savez(self.path("x.npz"), x=values)
        received = []
        for more, addresses in (("", 5), (" --save-outputs o.json", 1)):
            _, seen = self.vernier(
                "run identity.onnx --trt --input-shapes x:[1,2,300,300] --load-inputs x.npz "
                "--feed-back y:x --steps 5 --save-record r.json" + more)
            self.assertEqual(seen.count("IExecutionContext.setTensorAddress(x)"), addresses)
            self.assertEqual(seen.count("IExecutionContext.enqueueV3()"), 5)
            record = json.loads(self.path("r.json").read_text(encoding="utf-8"))
            received.append(record["runners"][0]["received"])
        self.assertEqual(*received)


if __name__ == "__main__":
    unittest.main()
