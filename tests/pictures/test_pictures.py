"""Pictures through the whole program: which files appear, where, and what is in them.

    VERNIER=path/to/vernier python3 -m unittest test_pictures
"""

import os
import pathlib
import resource
import signal
import stat
import subprocess
import tempfile
import time
import unittest

from files import Png, svg_texts, write_results

VERNIER = os.path.abspath(os.environ.get("VERNIER", "vernier"))
NAN_COLOR = (215, 25, 28)
HOTTEST = (253, 234, 69)
NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}

# What Polygraphy 0.53.6 with matplotlib left for outputs of these shapes.
PEER_HEATMAPS = {
    (4, 6): ["Absolute Error | y: (0,0:4,0:6) to (0,0:4,0:6).svg",
             "Relative Error | y (Log Scale): (0,0:4,0:6) to (0,0:4,0:6).svg"],
    (10,): ["Absolute Error | y: (0,0:1,0:10) to (0,0:1,0:10).svg",
            "Relative Error | y (Log Scale): (0,0:1,0:10) to (0,0:1,0:10).svg"],
    (2, 3, 8, 8): ["Absolute Error | y: (0,0,0:8,0:8) to (1,2,0:8,0:8).svg",
                   "Relative Error | y (Log Scale): (0,0,0:8,0:8) to (1,2,0:8,0:8).svg"],
}
PEER_PLOT = "error_metrics_y.png"


def size_of(shape):
    count = 1
    for dim in shape:
        count *= dim
    return count


def values(count, error=0.0):
    """Numbers that no two outputs agree on once `error` is not 0."""
    return [1.0 + i % 7 + error * (1 + i % 3) for i in range(count)]


class PictureTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-pictures-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, a, b, names=("A", "B")):
        """Two files of results; each side a list of iterations."""
        write_results(self.folder / "a.json", names[0], a)
        write_results(self.folder / "b.json", names[1], b)

    def write_pair(self, shape, output="y", bad=None):
        count = size_of(shape)
        b = values(count, 1e-3)
        for place, value in (bad or {}).items():
            b[place] = value
        self.write([{output: (shape, values(count))}], [{output: (shape, b)}])

    def run_it(self, *flags, program=VERNIER, environment=None, **options):
        return subprocess.run(
            [program, "run", "--load-outputs", "a.json", "b.json", *map(str, flags)],
            cwd=self.folder, capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, **NO_DISPLAY, **(environment or {})}, **options)

    def draw(self, *flags, code=1, **options):
        done = self.run_it("--save-heatmaps", "maps", "--save-error-metrics-plot", "plots", *flags,
                           **options)
        self.assertEqual(done.returncode, code, done.stdout[-3000:] + done.stderr)
        return done

    def names(self, folder):
        return sorted(path.name for path in (self.folder / folder).iterdir())

    def as_peer(self):
        link = self.folder / "polygraphy"
        link.symlink_to(VERNIER)
        return link


class Names(PictureTest):
    def test_files_are_called_as_the_peers(self):
        for shape, expected in PEER_HEATMAPS.items():
            with self.subTest(shape=shape):
                self.write_pair(shape)
                with tempfile.TemporaryDirectory(dir=self.folder) as inner:
                    done = self.run_it("--save-heatmaps", inner, "--save-error-metrics-plot", inner)
                    found = self.names(inner)
                    both = [name[:-4] + end for name in [*expected, PEER_PLOT]
                            for end in (".png", ".svg")]
                    self.assertEqual(found, sorted(both), done.stdout)
                    for name in [*expected, PEER_PLOT]:
                        self.assertIn(f"to: '{inner}/{name}'", done.stdout)

    def test_log_lines_are_the_peers(self):
        self.write_pair((4, 6))
        out = self.draw().stdout
        for line in ("Building error metrics plot for y. This may take a while...",
                     "Saving error metrics plot to: 'plots/error_metrics_y.png'",
                     "Building heatmaps for Absolute Error | y. This may take a while...",
                     "Saving 'Absolute Error | y' heatmap to: 'maps/Absolute Error | y: ",
                     "Saving 'Relative Error | y (Log Scale)' heatmap to: 'maps/Relative Error"):
            self.assertIn(line, out)

    def test_equal_elements_and_wide_slices_that_end_the_peer(self):
        self.write_pair((1, 2500), bad={0: 1.0})
        self.draw()
        self.assertEqual(len(self.names("maps")), 4)
        self.write_pair((3, 2, 2000), bad={0: 1.0})
        self.draw()

    def test_hostile_output_names_stay_in_the_folder(self):
        before = set(self.folder.rglob("*"))
        hostile = ["../../evil", "/etc/evil", "..", "a/b", "a_b", "x" * 5000, "new\nline\x1b[31m",
                   "<script>&\"'", "]]>", "-rf", "中文/выход", " "]
        outputs = {name: ((2, 3), values(6)) for name in hostile}
        others = {name: ((2, 3), values(6, 1e-3)) for name in hostile}
        self.write([outputs], [others])
        self.draw()
        made = set(self.folder.rglob("*")) - before
        files = [path for path in made if path.suffix in (".png", ".svg")]
        self.assertEqual({path.parent.name for path in files}, {"maps", "plots"})
        # Every output has its own: none was overwritten by another.
        self.assertEqual(len(self.names("plots")), 2 * len(hostile))
        self.assertEqual(len(self.names("maps")), 4 * len(hostile))
        for path in files:
            self.assertTrue(path.name.isprintable(), path.name)
            if path.suffix == ".svg":
                svg_texts(path)
        titles = [svg_texts(path)[0] for path in (self.folder / "plots").glob("*.svg")]
        self.assertIn("Error metrics | <script>&\"'", titles)
        self.assertIn("Error metrics | 中文/выход", titles)

    def test_pairs_do_not_overwrite_each_other(self):
        self.write_pair((4, 6))
        write_results(self.folder / "c.json", "C", [{"y": ((4, 6), values(24, 1e-2))}])
        done = subprocess.run([VERNIER, "run", "--load-outputs", "a.json", "b.json", "c.json",
                               "--save-error-metrics-plot", "plots"], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.names("plots"),
                         ["error_metrics_y (2).png", "error_metrics_y (2).svg",
                          "error_metrics_y.png", "error_metrics_y.svg"])
        first = " ".join(svg_texts(self.folder / "plots" / "error_metrics_y.svg"))
        second = " ".join(svg_texts(self.folder / "plots" / "error_metrics_y (2).svg"))
        self.assertIn("A: A    B: B", first)
        self.assertIn("A: B    B: C", second)


class Contents(PictureTest):
    def test_text_says_what_is_shown(self):
        self.write_pair((2, 3, 8, 8), bad={200: float("nan")})
        self.draw("--atol", "0.01")
        texts = "\n".join(svg_texts(next((self.folder / "maps").glob("Absolute*.svg"))))
        for part in ("Absolute Error | y", "A: A    B: B", "shape (2, 3, 8, 8), float32",
                     "iteration 0", "1 of 384 elements outside of both tolerances (atol 0.01",
                     "at (1, 0, 1, 0)", "(0,2,0:8,0:8)", "not a number: 1 element", "axis 3",
                     "|A - B|"):
            self.assertIn(part, texts)

    def test_one_bad_element_of_many_is_seen(self):
        self.write_pair((600, 500), bad={400 * 500 + 125: 1e6, 3: float("nan")})
        self.draw()
        png = Png(next((self.folder / "maps").glob("Absolute*.png")))
        self.assertLessEqual(png.width * png.height, 2_000_000)
        self.assertGreaterEqual(len(png.places(NAN_COLOR)), 9)
        # The colour bar lies to the right.
        hot = [(x, y) for x, y in png.places(HOTTEST) if x < 640]
        self.assertEqual(len(hot), 9)
        # The slice starts at (88, 144 or so), with 3 pixels for 3 elements.
        self.assertAlmostEqual(min(x for x, _ in hot), 88 + 125, delta=5)
        self.assertAlmostEqual(min(y for _, y in hot) - min(y for _, y in png.places(NAN_COLOR)),
                               400, delta=5)

    def test_the_worst_iteration_stays(self):
        shape, count = (4, 6), 24
        errors = (1e-3, 5e-3, 2e-3)
        self.write([{"y": (shape, values(count))} for _ in errors],
                   [{"y": (shape, values(count, error))} for error in errors])
        self.draw()
        for path in (*(self.folder / "maps").glob("*.svg"), *(self.folder / "plots").glob("*.svg")):
            self.assertIn("iteration 1", " ".join(svg_texts(path)))

    def test_a_worse_iteration_of_another_shape_replaces_all_files(self):
        self.write([{"y": ((4, 6), values(24))}, {"y": ((8, 3), values(24))}],
                   [{"y": ((4, 6), values(24, 1e-3))}, {"y": ((8, 3), values(24, 1e-2))}])
        self.draw()
        self.assertEqual([name for name in self.names("maps") if "0:8" not in name], [])
        self.assertEqual(len(self.names("maps")), 4)

    def test_pages_are_bounded_and_the_worst_are_kept(self):
        count = 2000 * 4
        b = values(count, 1e-4)
        b[1990 * 4] = 100.0
        self.write([{"y": ((2000, 2, 2), values(count))}], [{"y": ((2000, 2, 2), b)}])
        out = self.draw().stdout
        self.assertEqual(len(self.names("maps")), 2 * 2 * 8)
        self.assertIn("Absolute Error | y: (1960,0:2,0:2) to (1999,0:2,0:2).svg", self.names("maps"))
        self.assertRegex(out, r"\[W\] +Left out 13 of 21 pages of this heatmap; no error on them")

    def test_the_same_run_draws_the_same_bytes(self):
        self.write_pair((3, 20, 20))
        self.draw()
        first = {p.name: p.read_bytes() for p in (self.folder / "maps").iterdir()}
        self.draw()
        self.assertEqual({p.name: p.read_bytes() for p in (self.folder / "maps").iterdir()}, first)


class Nothing(PictureTest):
    def test_without_simple_pictures_are_refused_before_anything_runs(self):
        self.write_pair((4, 6))
        for flags in (["--save-heatmaps", "maps"], ["--save-error-metrics-plot", "plots"],
                      ["--show-heatmaps"], ["--show-error-metrics-plot"]):
            with self.subTest(flags=flags):
                done = self.run_it("--compare", "l2", "--l2-threshold", "100", *flags)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"[!] {flags[0]}: pictures show the results of the comparison "
                              "function 'simple'", done.stderr)
                self.assertNotIn("Accuracy Comparison", done.stdout)
        self.draw("--compare", "l2", "simple", "--l2-threshold", "100")
        # Polygraphy says nothing; under its name it is no failure.
        done = self.draw("--compare", "l2", "--l2-threshold", "100", code=0, program=self.as_peer())
        self.assertIn("No picture was made", done.stdout)

    def test_nothing_shown_leaves_no_folder_behind(self):
        self.write_pair((4, 6))
        done = self.run_it("--compare", "l2", "--l2-threshold", "100", "--show-heatmaps",
                           "--lenient", environment={"TMPDIR": str(self.folder)})
        self.assertEqual(done.returncode, 0)
        self.assertIn("[W] No picture was made", done.stdout)
        self.assertEqual(list(self.folder.glob("vernier-pictures-*")), [])

    def test_an_empty_name_is_no_folder(self):
        self.write_pair((4, 6))
        done = self.run_it("--save-heatmaps", "")
        self.assertEqual(done.returncode, 2)
        self.assertIn("[!] --save-heatmaps: expected a folder, got ''", done.stderr)

    def test_outputs_without_elements(self):
        self.write([{"y": ((0, 3), []), "z": ((4,), values(4))}],
                   [{"y": ((0, 3), []), "z": ((4,), values(4))}])
        done = self.draw(code=0)
        self.assertIn("No picture of output 'y': it has no elements", done.stdout)
        self.assertEqual(len(self.names("maps")), 4)


def files_are_bounded():
    """Writing beyond the limit fails with EFBIG, as it fails on a full disk with ENOSPC."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))


class Failures(PictureTest):
    def test_a_folder_that_cannot_be_made(self):
        self.write_pair((4, 6))
        (self.folder / "file").write_text("in the way")
        for flag in ("--save-heatmaps", "--save-error-metrics-plot"):
            for folder in ("file", "file/deeper", "/proc/nowhere"):
                with self.subTest(flag=flag, folder=folder):
                    done = self.run_it(flag, folder, "--atol", "1")
                    self.assertEqual(done.returncode, 7, done.stdout)
                    self.assertIn("[!] a picture was not saved: '", done.stderr)
                    self.assertEqual(done.stderr.count("[!]"), 1)
        self.assertEqual((self.folder / "file").read_text(), "in the way")

    def test_a_mismatch_is_still_the_first_news(self):
        self.write_pair((4, 6))
        self.assertEqual(self.run_it("--save-heatmaps", "/proc/nowhere").returncode, 1)

    def test_a_full_disk_leaves_no_halves(self):
        self.write_pair((40, 60))
        done = self.draw("--atol", "1", code=7, preexec_fn=files_are_bounded)
        self.assertIn("cannot be written", done.stderr)
        left = [p for f in ("maps", "plots") for p in (self.folder / f).iterdir()]
        self.assertEqual([p for p in left if p.suffix == ".tmp" or p.stat().st_size == 0], [])

    def test_old_pictures_are_replaced(self):
        self.write_pair((4, 6))
        self.draw()
        path = self.folder / "plots" / "error_metrics_y.png"
        path.write_bytes(b"old")
        self.draw()
        Png(path)


class Showing(PictureTest):
    def test_without_a_display_the_place_is_said(self):
        self.write_pair((4, 6))
        done = self.run_it("--show-heatmaps", "--show-error-metrics-plot", "-qqq",
                           environment={"TMPDIR": str(self.folder)})
        self.assertEqual(done.returncode, 1)
        shown = next(self.folder.glob("vernier-pictures-*"))
        self.assertIn("The pictures cannot be shown here: there is no display. They are in "
                      f"'{shown}'", done.stdout)
        self.assertEqual(len(list(shown.iterdir())), 6)

    def fake_xdg_open(self, text):
        programs = self.folder / "bin"
        programs.mkdir()
        program = programs / "xdg-open"
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return {"PATH": f"{programs}:{os.environ['PATH']}", "DISPLAY": ":99"}

    def test_with_a_display_saved_pictures_are_opened(self):
        self.write_pair((4, 6))
        notes = self.folder / "notes"
        environment = self.fake_xdg_open(f"#!/bin/sh\necho \"$1\" >> {notes}\n")
        done = self.draw("--show-error-metrics-plot", environment=environment)
        end = time.monotonic() + 60
        while not (notes.exists() and notes.read_text().endswith("\n")):
            self.assertLess(time.monotonic(), end, done.stdout)
            time.sleep(0.01)
        self.assertEqual(notes.read_text(), f"{self.folder}/plots/error_metrics_y.png\n")

    def test_without_xdg_open_it_says_so(self):
        self.write_pair((4, 6))
        done = self.draw("--show-heatmaps",
                         environment={"DISPLAY": ":99", "PATH": str(self.folder)})
        self.assertRegex(done.stdout, r"xdg-open cannot be started: .*They are in 'maps'")


if __name__ == "__main__":
    unittest.main()
