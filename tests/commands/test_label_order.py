"""Arrays of labels in another order than the samples: as many values elsewhere are refused."""

import unittest

import numpy as np

from test_rows_again import SavedRows

CLASSES = 5


class Order(SavedRows):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(0)
        self.a = random.normal(size=(6, 2, 4, CLASSES)).astype(np.float32)
        self.right = self.a.argmax(-1)  # (6, 2, 4), two sequences of four tokens in an iteration

    def judge(self, labels, code, outputs=None, name="labels.npy"):
        outputs = self.a if outputs is None else outputs
        if isinstance(labels, dict):
            name = "labels.npz"
            np.savez(self.path(name), **labels)
        else:
            np.save(self.path(name), labels)
        sides = [[{"y": one} for one in outputs]] * 2
        pair = self.compare(*sides, "--decision", "top1", "--labels", name, "--max-drop", "0.01",
                            "--save-rows", "rows.jsonl", code=code)
        return pair["decisions"][0].get("labels")

    def test_the_order_of_the_samples(self):
        rows = self.a[:, 0]
        for labels, outputs in ((self.right, self.a), (self.right.reshape(12, 4), self.a),
                                (self.right.ravel(), self.a), (self.right.reshape(-1, 1), self.a),
                                (self.right[:, 0], rows), (self.right[:, None, 0], rows),
                                (self.right[:1], self.a[:1]), (self.right[0], self.a[:1])):
            with self.subTest(shape=labels.shape):
                self.assertEqual(self.judge(labels, 0, outputs)["first"], 1)
        arrays = {f"{i:010}/label": one for i, one in enumerate(self.right)}
        self.assertEqual(self.judge(arrays, 0)["first"], 1)

    def test_another_order_is_refused(self):
        rows = self.a[:, 0]
        for labels, outputs in ((self.right.swapaxes(1, 2), self.a),
                                (self.right.reshape(6, 8).T, self.a),
                                (self.right.reshape(6, 8), self.a),
                                (self.right[:, 0].T, rows), (self.right[:, 0].reshape(3, 8), rows),
                                (self.right[:, 0].reshape(2, 2, 3, 2), rows)):
            with self.subTest(shape=labels.shape):
                self.judge(labels, 4, outputs)
                self.says("--labels 'labels.npy': labels of the shape ", " are in another order "
                          "than the samples, which are ", " in an iteration: give labels in that "
                          "shape after the iterations, or flat")
        self.judge({f"{i:010}/label": one.T for i, one in enumerate(self.right)}, 4)
        self.says("labels of iteration 0 of the shape (4, 2) are in another order than the "
                  "samples, which are (2, 4) in an iteration: give labels in that shape, or flat")

    def test_rows_do_not_show_the_order(self):
        self.judge(self.right, 0)
        for labels, code in ((self.right.ravel(), 0), (self.right.reshape(6, 8), 0),
                             (self.right.swapaxes(1, 2), 4), (self.right.reshape(8, 6), 4)):
            with self.subTest(shape=labels.shape):
                np.save(self.path("other.npy"), labels)
                self.check("rows.jsonl", "--labels", "other.npy", "--max-drop", "0.01", code=code)
                if code:
                    self.says("may be in another order than the samples, whose axes rows do not "
                              "have: give labels flat")

    def test_numbers_in_other_than_ten_digits(self):
        names = sorted((f"{i}/label" for i in range(6)), key=lambda name: -int(name[0]))
        np.savez(self.path("labels.npz"),
                 **{name: self.right[int(name[0])].ravel() for name in names})
        sides = [[{"y": one} for one in self.a]] * 2
        self.compare(*sides, "--decision", "top1", "--labels", "labels.npz", code=3)
        self.says("'labels.npz': '5/label' gives an iteration in other than ten digits, so that "
                  "the order of the arrays may be another")

        numbers = {str(i): self.right[i].ravel() for i in range(6)}
        np.savez(self.path("labels.npz"), **dict(reversed(numbers.items())))
        self.compare(*sides, "--decision", "top1", "--labels", "labels.npz", code=3)
        self.says("'labels.npz': '4' follows '5', and arrays are taken in the order of the file")
        np.savez(self.path("labels.npz"), **numbers)
        self.compare(*sides, "--decision", "top1", "--labels", "labels.npz", code=0)

    def test_a_device_is_no_file_of_labels(self):
        self.path("labels.txt").symlink_to("/dev/null")
        sides = [[{"y": one} for one in self.a]] * 2
        self.compare(*sides, "--decision", "top1", "--labels", "labels.txt", code=3)
        self.says("--labels: 'labels.txt' is not a regular file")

    def test_a_byte_order_mark_is_no_class(self):
        for name, text in (("labels.txt", "\ufeff0\r\n1\r\n2\r\n"),
                           ("labels.jsonl", "\ufeff0\n1\n2\n")):
            self.path(name).write_bytes(text.encode())
            sides = [[{"y": np.eye(3, CLASSES, dtype=np.float32)}]] * 2
            pair = self.compare(*sides, "--decision", "top1", "--labels", name, code=0)
            self.assertEqual(pair["decisions"][0]["labels"]["first"], 1)


if __name__ == "__main__":
    unittest.main()
