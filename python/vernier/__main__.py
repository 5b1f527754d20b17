"""python -m vernier: the program that the package carries."""

import os
import sys


def program():
    """The path of the executable."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program", "bin", "vernier")


def main():
    # Frameworks and scripts are looked for where this Python has its packages.
    if "VIRTUAL_ENV" not in os.environ and sys.prefix != sys.base_prefix:
        os.environ["VIRTUAL_ENV"] = sys.prefix
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(program(), ["vernier", *sys.argv[1:]])
    except OSError as error:
        sys.stderr.write(f"vernier: the package lacks its program: {error}\n")
        return 70


if __name__ == "__main__":
    sys.exit(main())
