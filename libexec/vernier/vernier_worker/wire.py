"""Frames and values of the protocol between vernier and its workers.

The same bytes as src/backend/wire/channel.cc and wire.h: numbers in native order, texts with their
length before them, at most one file descriptor a frame.
"""

import array
import os
import socket
import struct

LOAD, OPEN, RUN, CLOSE = 1, 2, 3, 4
OPEN_SCRIPT, NEXT_FEED, COMPARE, POSTPROCESS, MEASURE = 5, 6, 7, 8, 9
INFER_SHAPES, DRAW, TAKE_BACK, HASH_INPUTS, TRY_RUN, RESET, DECIDE = 13, 14, 15, 16, 18, 20, 21
COUNT_FEEDS, LIST_MODULES = 22, 23
REPLY, LOG = 100, 101

# Codes of include/vernier/status.h.
OK = 0
INVALID = 1
NOT_FOUND, MALFORMED, UNAVAILABLE, UNIMPLEMENTED, BACKEND, IO, INTERNAL = 2, 3, 4, 5, 6, 7, 9

MAGIC = 0x31524E56
HEADER = struct.Struct("=IIQ")
_U8 = struct.Struct("=B")
_I32 = struct.Struct("=i")
_U32 = struct.Struct("=I")
_U64 = struct.Struct("=Q")
_I64 = struct.Struct("=q")
_F64 = struct.Struct("=d")


class Failure(Exception):
    """An error with a code of its own, for the parent, and what a script raised, if it did."""

    def __init__(self, code, message, raised=None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.raised = raised


def a(kind):
    """The name of a type behind its article: "an int". That of None is "None"."""
    if kind is type(None):
        return "None"
    return f"{'an' if kind.__name__[:1] in 'aeiouAEIOU' else 'a'} {kind.__name__}"


class Writer:
    """Collects values of a message."""

    def __init__(self):
        self.parts = []

    def u8(self, value):
        self.parts.append(_U8.pack(value))

    def i32(self, value):
        self.parts.append(_I32.pack(value))

    def u32(self, value):
        self.parts.append(_U32.pack(value))

    def u64(self, value):
        self.parts.append(_U64.pack(value))

    def i64(self, value):
        self.parts.append(_I64.pack(value))

    def f64(self, value):
        self.parts.append(_F64.pack(value))

    def text(self, value):
        raw = value.encode("utf-8", "surrogateescape")
        self.parts.append(_U64.pack(len(raw)) + raw)

    def raw(self, value):
        self.parts.append(value)

    def finish(self):
        return b"".join(self.parts)


class Reader:
    """Takes values from a message. What does not fit raises."""

    def __init__(self, data):
        self.data = memoryview(data)
        self.at = 0

    def _take(self, form):
        (value,) = form.unpack_from(self.data, self.at)
        self.at += form.size
        return value

    def u8(self):
        return self._take(_U8)

    def u64(self):
        return self._take(_U64)

    def i64(self):
        return self._take(_I64)

    def f64(self):
        return self._take(_F64)

    def raw(self, size):
        if size > len(self.data) - self.at:
            raise Failure(INTERNAL, "malformed request")
        value = self.data[self.at:self.at + size]
        self.at += size
        return value

    def text(self):
        return bytes(self.raw(self.u64())).decode("utf-8", "surrogateescape")

    def options(self):
        return [(self.text(), self.text()) for _ in range(self.u64())]


class Channel:
    """The worker's end of the connection."""

    def __init__(self, descriptor):
        os.set_inheritable(descriptor, False)  # not for what scripts start
        self.socket = socket.socket(fileno=descriptor)

    def receive(self):
        """(type, body, descriptor or None); None when the parent has gone."""
        ancillary_size = socket.CMSG_SPACE(array.array("i").itemsize)
        head, ancillary, _, _ = self.socket.recvmsg(HEADER.size, ancillary_size,
                                                    socket.MSG_CMSG_CLOEXEC)
        descriptor = None
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptor = struct.unpack_from("=i", data)[0]
        if head and len(head) < HEADER.size:
            head += self._fully(HEADER.size - len(head))
        if len(head) < HEADER.size:
            return None
        magic, kind, size = HEADER.unpack(head)
        if magic != MAGIC:
            return None
        body = self._fully(size)
        return None if len(body) < size else (kind, body, descriptor)

    def _fully(self, size):
        if size == 0:
            return b""
        data = self.socket.recv(size, socket.MSG_WAITALL)
        while data and len(data) < size:
            more = self.socket.recv(size - len(data), socket.MSG_WAITALL)
            if not more:
                break
            data += more
        return data

    def send(self, kind, body, descriptor=None):
        message = HEADER.pack(MAGIC, kind, len(body)) + body
        ancillary = []
        if descriptor is not None:
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        sent = self.socket.sendmsg([message], ancillary)
        if sent < len(message):
            self.socket.sendall(memoryview(message)[sent:])
