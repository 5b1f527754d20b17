"""Reads the file of an HTML report."""

import json
import re


def data_of(page):
    """What the page's script reads: the record, unpacked, and the texts."""
    element = r'<script id="record" type="application/json">(.*?)</script>'
    data = json.loads(re.search(element, page, re.S)[1])
    return {**data, "record": unpack(data["record"]["value"], data["record"]["keys"])}


def unpack(value, keys):
    """Objects are {N: [values]}, whose keys are the N-th list."""
    if isinstance(value, list):
        return [unpack(item, keys) for item in value]
    if not isinstance(value, dict):
        return value
    (place, values), = value.items()
    return {key: unpack(item, keys) for key, item in zip(keys[int(place)], values, strict=True)}
