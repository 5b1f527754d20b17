#!/usr/bin/env python3
"""Takes the pictures of a report: docs/images/report.png and report-graph.png.

Usage: report-pictures.py VERNIER   with a Python that has onnx (.deps/peer/bin/python)

Needs a Chromium, and the trained networks of scripts/deps.sh --tests. The report is of a
text-direction classifier in which one channel of one convolution is zero.
"""

import base64
import os
import pathlib
import subprocess
import sys
import tempfile

from command_line import begin

begin(__doc__, "onnx")

import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "reports"), str(ROOT / "tests" / "trained")]
from browser import Browser  # noqa: E402
from networks import NETWORKS  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SIZE = (1180, 900)
CONVOLUTION, CHANNEL = "Conv@23", 5


def save_damaged(network, path):
    model = onnx.load(network.path)
    node = next(node for node in model.graph.node if node.name == CONVOLUTION)
    tensors = [each.attribute[0].t for each in model.graph.node if each.output[0] == node.input[1]]
    tensors += [each for each in model.graph.initializer if each.name == node.input[1]]
    weights = numpy_helper.to_array(tensors[0]).copy()
    weights[CHANNEL] = 0
    tensors[0].CopyFrom(numpy_helper.from_array(weights, tensors[0].name))
    onnx.save(model, path)


def make_report(vernier, folder):
    network = next(each for each in NETWORKS if "cls" in each.name)
    save_damaged(network, folder / "ported.onnx")
    subprocess.run([vernier, "run", network.path, "--runner", f"original=onnxrt {network.path}",
                    "--runner", f"ported=onnxrt {folder / 'ported.onnx'}", "--tolerance", "auto",
                    "--blame", *network.words, "--report", folder / "out.html", "-qqq"],
                   check=False, stdout=subprocess.DEVNULL)
    return folder / "out.html"


def save_pictures(page):
    browser = Browser(SIZE)
    browser.call("Emulation.setDeviceMetricsOverride", width=SIZE[0], height=SIZE[1],
                 deviceScaleFactor=1, mobile=False)
    browser.open(page)
    browser.frames()
    (IMAGES / "report.png").write_bytes(browser.picture())
    box = browser.ask("(({x, y, width, height}) => [x + scrollX, y + scrollY, width, height])"
                      "(document.getElementById('graph').getBoundingClientRect())")
    clip = {"x": box[0] - 12, "y": box[1] - 12, "width": box[2] + 24, "height": box[3] + 24,
            "scale": 1}
    shot = browser.call("Page.captureScreenshot", format="png", clip=clip,
                        captureBeyondViewport=True)
    (IMAGES / "report-graph.png").write_bytes(base64.b64decode(shot["data"]))
    browser.close()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    with tempfile.TemporaryDirectory() as folder:
        save_pictures(make_report(os.path.abspath(sys.argv[1]), pathlib.Path(folder)))


if __name__ == "__main__":
    main()
