"""What runners produced, functions that compare it, random inputs."""

from .. import exception
from . import compare, data_loader, postprocess, struct
from .compare import *  # noqa: F401,F403
from .data_loader import *  # noqa: F401,F403
from .postprocess import *  # noqa: F401,F403
from .struct import *  # noqa: F401,F403

__all__ = [*compare.__all__, *data_loader.__all__, *postprocess.__all__, *struct.__all__]
__getattr__ = exception.missing(__name__)
