"""Names of element types: nothing here."""

from polygraphy import exception

__getattr__ = exception.missing("datatype")
