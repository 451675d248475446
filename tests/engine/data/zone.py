"""A name server for one test: answers TXT and MX from a dictionary, over UDP on a free port."""
import socket
import struct
import threading


def encode(name):
    return b"".join(bytes((len(label),)) + label.encode() for label in name.split(".")) + b"\0"


def read_name(data, at):
    labels = []
    while data[at]:
        labels.append(data[at + 1:at + 1 + data[at]].decode())
        at += data[at] + 1
    return ".".join(labels), at + 1


class Zone:
    """`records` maps (name, type) to a list of texts (TXT) or host names (MX)."""

    def __init__(self, records):
        self.records = records
        self.link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.link.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.link.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while True:
            data, sender = self.link.recvfrom(4096)
            if data == b"end":
                return
            name, at = read_name(data, 12)
            kind = struct.unpack(">H", data[at:at + 2])[0]
            values = self.records.get((name, kind), [])
            answers = b""
            for value in values:
                if kind == 16:
                    raw = value.encode()
                    raw = b"".join(bytes((len(raw[i:i + 200]),)) + raw[i:i + 200] for i in range(0, len(raw), 200))
                else:
                    raw = struct.pack(">H", 10) + encode(value)
                answers += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 60, len(raw)) + raw
            head = data[:2] + struct.pack(">HHHHH", 0x8180 if values else 0x8183, 1, len(values), 0, 0)
            self.link.sendto(head + data[12:at + 4] + answers, sender)

    def close(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.sendto(b"end", self.link.getsockname())
        self.thread.join()
        self.link.close()
