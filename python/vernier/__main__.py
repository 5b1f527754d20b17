"""python -m vernier: the program that the package carries."""

import os
import sys

from vernier._places import program


def environment():
    """The program's: frameworks and scripts are looked for where this Python has its packages."""
    if "VIRTUAL_ENV" in os.environ or sys.prefix == sys.base_prefix:
        return dict(os.environ)
    return {**os.environ, "VIRTUAL_ENV": sys.prefix}


def main():
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(program(), ["vernier", *sys.argv[1:]], environment())
    except OSError as error:
        sys.stderr.write(f"vernier: the package lacks its program: {error}\n")
        return 70


if __name__ == "__main__":
    sys.exit(main())
