"""A rank of hpcboot's store, written only from bootstrap/rendezvous/store/PROTOCOL.md and wire.hpp."""
import hmac
import os
import socket
import struct

KIND_FILE = 2
APPEND, GET = 2, 8
VALUES = 3


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack(">I", len(value)) + value


class Rank:
    def __init__(self, address, port, identity, world_size, rank, secret):
        self.socket = socket.create_connection((address, port), timeout=20)
        token, own = os.urandom(16), os.urandom(32)
        self.socket.sendall(b"hpcboot\x01" + struct.pack(">I", rank) + token + own)
        magic, version, theirs, kind, size = struct.unpack(">7sB32sBH", self.exactly(43))
        assert (magic, version) == (b"hpcboot", 1), (magic, version)
        self.exactly(size)

        def proof(side):
            seen = text(side) + text(identity) + struct.pack(">IIIB", world_size, rank, port, kind) + token + own + theirs
            return hmac.digest(secret, seen, "sha256")

        self.socket.sendall(proof("client"))
        answer = self.exactly(33)
        assert answer[0] == 0 and answer[1:] == proof("server"), "rejected, or not the server"
        self.key, self.sent, self.received = proof("session"), 0, 0

    def exactly(self, size):
        got = b""
        while len(got) < size:
            piece = self.socket.recv(size - len(got))
            if not piece:
                raise ConnectionError("the store closed this connection")
            got += piece
        return got

    def seal(self, side, number, frame):
        return hmac.digest(self.key, struct.pack(">BQ", side, number) + frame, "sha256")[:16]

    def ask(self, kind, body):
        frame = struct.pack(">IIB", len(body) + 5, self.sent + 1, kind) + body
        self.socket.sendall(frame + self.seal(0, self.sent, frame))
        self.sent += 1
        length = self.exactly(4)
        frame = length + self.exactly(struct.unpack(">I", length)[0])
        assert self.exactly(16) == self.seal(1, self.received, frame), "the seal of an answer is wrong"
        self.received += 1
        return frame[8], frame[9:]

    def append(self, key, value):
        return self.ask(APPEND, text(key) + text(value))

    def get(self, key, milliseconds):
        kind, body = self.ask(GET, struct.pack(">II", milliseconds, 1) + text(key))
        assert kind == VALUES, kind
        return body[8:]
