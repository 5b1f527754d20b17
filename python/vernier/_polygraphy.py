"""The one implementation of Polygraphy's Python API, over the libraries.

Its source is the package `polygraphy` of libexec/vernier/shim, which scripts in workers import by
that name where Polygraphy is not installed. Here it is loaded as vernier._polygraphy, and two of
its modules are those of this package: `errors`, and `host` with the readers of files of any size.
"""

import os
import sys

from . import _errors, _host, _places

__path__ = [os.path.join(_places.libexec(), "shim", "polygraphy")]
errors, host = _errors, _host
sys.modules[f"{__name__}.errors"], sys.modules[f"{__name__}.host"] = _errors, _host
