"""Element types, as NumPy's."""

from . import exception


class _Types(type):
    """DataType.FLOAT32 and the others are NumPy's types."""

    def __getattr__(cls, name):
        import numpy as np
        try:
            return np.dtype({"BOOL": "bool", "STRING": "str"}.get(name, name.lower()))
        except TypeError:
            raise AttributeError(
                f"vernier has no DataType.{name}") from None


class DataType(metaclass=_Types):
    @staticmethod
    def from_dtype(dtype, source_module=None):
        import numpy as np
        try:
            text = str(dtype)
            return np.dtype(text[len("torch."):] if text.startswith("torch.") else dtype)
        except TypeError:
            raise exception.DataTypeConversionException(
                f"Could not convert data type: {dtype}") from None

    @staticmethod
    def to_dtype(dtype, target_module):
        if target_module == "numpy":
            return dtype
        if target_module == "torch":
            import torch
            return getattr(torch, dtype.name)
        raise exception.DataTypeConversionException(
            f"vernier knows no types of {target_module}")


__all__ = ["DataType"]
__getattr__ = exception.missing(__name__)
