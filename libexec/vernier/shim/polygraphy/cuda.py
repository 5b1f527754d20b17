"""Memory of GPUs: nothing here."""

from polygraphy import exception

__getattr__ = exception.missing("cuda")
