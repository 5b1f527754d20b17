"""Polygraphy's JSON: arrays are .npy streams in base64, other objects name their class.

The wheel installs this file as vernier/_encoding.py, too.
"""

CLASS = "polygraphy_class"


def of_array(value):
    """The JSON object of an array."""
    import base64
    import io
    import numpy as np
    stream = io.BytesIO()
    np.save(stream, value, allow_pickle=False)
    return {"array": base64.b64encode(stream.getvalue()).decode(), CLASS: "ndarray"}


def _array(found):
    import base64
    import io
    import numpy as np
    return np.load(io.BytesIO(base64.b64decode(found["array"])), allow_pickle=False)


class Encoding:
    """The texts of objects, and back; objects of classes that have _encode() encode themselves.

    `decoders()` gives functions of JSON objects by the names of classes. unsavable(type name) and
    unknown(class name) make exceptions.
    """

    def __init__(self, decoders, unsavable, unknown):
        self.decoders, self.unsavable, self.unknown = decoders, unsavable, unknown

    def to_json(self, obj):
        import json
        return json.dumps(obj, default=self._encode, indent=4)

    def from_json(self, text):
        import json
        return json.loads(text, object_pairs_hook=self._decode)

    def _encode(self, value):
        import numpy as np
        if isinstance(value, np.ndarray):
            return of_array(value)
        if isinstance(value, np.generic):
            return value.item()
        encode = getattr(value, "_encode", None)
        if encode is None:
            raise self.unsavable(type(value).__name__)
        return encode()

    def _decode(self, pairs):
        found = dict(pairs)
        kind = found.pop(CLASS, None)
        if kind is None:
            return found
        if kind == "ndarray":
            return _array(found)
        if kind in ("LazyArray", "LazyNumpyArray"):
            return found["values"]
        decode = self.decoders().get(kind)
        if decode is None:
            raise self.unknown(kind)
        return decode(found)
