"""The Python side of vernier's workers: serves scripts and models on a socket.

Started by vernier itself: worker.py SOCKET. The protocol is that of `vernier worker`
(src/backend/wire/messages.h). This file runs under any Python, so that a wrong one is reported in a
sentence.
"""

import os
import struct
import sys

OLDEST = (3, 9)


def refuse(descriptor, sentence):
    """Answers the first request, which is not even read, with "not usable" and why."""
    unavailable, reply, magic = 4, 100, 0x31524E56
    text = sentence.encode("utf-8")
    body = struct.pack("=iQ", unavailable, len(text)) + text
    os.write(descriptor, struct.pack("=IIQ", magic, reply, len(body)) + body)
    # The parent must find the answer before it finds the end.
    os.read(descriptor, 1)


def main(words):
    if len(words) != 2 or not words[1].isdigit():
        sys.stderr.write("worker.py is started by vernier itself, not by hand\n")
        return 2
    descriptor = int(words[1])
    if sys.version_info[:2] < OLDEST:
        refuse(descriptor, "'%s' is Python %d.%d; 3.9 or newer is needed (--python names another)"
               % ((sys.executable,) + tuple(sys.version_info[:2])))
        return 0
    sys.dont_write_bytecode = True  # nothing is left behind beside anybody's scripts
    from vernier_worker import server
    # Our own folder must not answer to imports of scripts.
    del sys.path[0]
    return server.serve(descriptor)


if __name__ == "__main__":
    status = main(sys.argv)
    # Frameworks that are only half unloaded are a classic way to crash.
    sys.stderr.flush()
    os._exit(status)
