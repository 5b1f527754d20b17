#!/usr/bin/env python3
"""Write the corpus of malformed input: files, and cases.json with what reading them must come to.

    make_corpus.py OUTDIR                  OUTDIR must be new or empty
    make_corpus.py OUTDIR --models DIR     also cut the models of DIR short, see make_models.py

Needs Python 3.11 and nothing else. Every byte is determined by these scripts, except that links
lead to where OUTDIR is.
"""

import argparse
import pathlib
import sys

import array_cases
import command_cases
import external_cases
import file_cases
import onnx_cases
import results_cases
from corpus import Corpus

LARGEST_MODEL = 10000


def make(folder, models=()):
    corpus = Corpus(folder)
    onnx_cases.add(corpus, models)
    external_cases.add(corpus)
    results_cases.add(corpus)
    array_cases.add(corpus)
    command_cases.add(corpus)
    file_cases.add(corpus)
    corpus.finish()
    return corpus


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path)
    options = parser.parse_args()
    if options.outdir.exists() and any(options.outdir.iterdir()):
        parser.error(f"{options.outdir} is not empty")
    models = sorted(options.models.glob("*.onnx")) if options.models else []
    corpus = make(options.outdir, [m for m in models if m.stat().st_size <= LARGEST_MODEL])
    print(f"{len(corpus.cases)} cases in {options.outdir}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
