#!/usr/bin/env python3
"""Checks a plug-in as it was built: it exports vn_backend_query alone, every symbol that it names
is found, and it is linked with the system's libraries only. Usage: check_plugin.py PLUGIN.so"""

import re
import subprocess
import sys

EXPORTS = ["vn_backend_query"]
# What a sanitizer brings is there in a sanitized program.
SANITIZERS = re.compile(r"__(a|t|ub|l)san|__sanitizer|lib[atu]+bsan|lib[at]san")
SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s|z|torchscript)\.so|ld-linux|"
                    r"libvernier_torchscript|lib[aut]+b?san")


def printed(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def main():
    path = sys.argv[1]
    problems = []
    exports = [line.split()[0].partition("@")[0] for line in
               printed("nm", "-D", "--defined-only", "--format=posix", path).splitlines()]
    if exports != EXPORTS:
        problems.append(f"exports {exports}, expected {EXPORTS}")
    lacking = re.compile("undefined symbol|not found")
    missing = [line.strip() for line in printed("ldd", "-r", path).splitlines()
               if lacking.search(line) and not SANITIZERS.search(line)]
    problems += [f"cannot be loaded: {line}" for line in missing]
    linked = re.findall(r"NEEDED +(\S+)", printed("objdump", "-p", path))
    problems += [f"is linked with {name}, which is to be opened when it runs" for name in linked
                 if not SYSTEM.match(name)]
    for problem in problems:
        print(f"{path} {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
