"""NVIDIA's driver through ctypes: memory, copies and a stream in the device's primary context."""

import ctypes

from vernier_worker import wire


class Driver:
    """Everything happens in the first device's primary context, as frameworks have it."""

    def __init__(self):
        try:
            self.lib = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise wire.Failure(wire.UNAVAILABLE, "TensorRT needs an NVIDIA GPU and its driver: "
                               f"{error}") from None
        self._call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxPushCurrent_v2", context)
        name = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", name, 256, device)
        self.name = name.value.decode()
        stream = ctypes.c_void_p()
        self._call("cuStreamCreate", ctypes.byref(stream), 1)
        self.stream = stream.value or 0

    def _call(self, function, *arguments):
        code = getattr(self.lib, function)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(code, ctypes.byref(text))
            reason = (text.value or b"").decode()
            raise wire.Failure(wire.BACKEND, f"{function} failed: {reason or code}")

    def synchronize(self):
        self._call("cuStreamSynchronize", ctypes.c_void_p(self.stream))


class Buffer:
    """Device memory that only ever grows; its address is never 0."""

    def __init__(self, driver):
        self.driver, self.address, self.size = driver, 0, 0

    def resize(self, size):
        if self.address == 0 or size > self.size:
            self.free()
            address = ctypes.c_uint64()
            self.driver._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
            self.address, self.size = address.value, size
        return self.address

    def write(self, array):
        """On the stream: an ordinary copy may return before the bytes have arrived, and this stream
        does not wait for it. The array must stay until the stream has come past.
        """
        self.resize(array.nbytes)
        if array.nbytes:
            self.driver._call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(self.address),
                              ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes),
                              ctypes.c_void_p(self.driver.stream))

    def read_into(self, array):
        if array.nbytes:
            self.driver._call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data),
                              ctypes.c_uint64(self.address), ctypes.c_size_t(array.nbytes))

    def free(self):
        if self.address:
            self.driver._call("cuMemFree_v2", ctypes.c_uint64(self.address))
            self.address = 0
