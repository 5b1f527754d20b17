"""Arrays that lie on devices, and that they were copied from there."""

# DLPack's numbers.
HOST = (1, 3, 11)  # pinned memory of CUDA and ROCm, too
DEVICES = {2: "cuda", 8: "metal", 10: "rocm", 13: "cuda", 14: "oneapi"}


class Copies:
    """Counts arrays that were copied from devices to this machine's memory."""

    def __init__(self):
        self._found = {}  # device: [arrays, bytes]

    def add(self, device, size):
        if device:
            found = self._found.setdefault(device, [0, 0])
            found[0] += 1
            found[1] += size

    def notes(self):
        """One sentence, in a list, or nothing."""
        if not self._found:
            return []
        said = [f"{count} array{'s' if count > 1 else ''} ({size / 2**20:.3g} MiB) of {device}"
                for device, (count, size) in self._found.items()]
        return [f"copied to the host to be compared there: {', '.join(said)}"]


def device_of(value):
    """The device of an array that is not in this machine's memory, as people write it; or None."""
    try:
        kind, number = value.__dlpack_device__()
    except Exception:  # no array of a device, or one that DLPack does not know
        device = getattr(value, "device", None)
        return str(device) if getattr(device, "type", "cpu") != "cpu" else None
    kind = int(kind)
    return f"{DEVICES.get(kind, f'device {kind}')}:{number}" if kind not in HOST else None
