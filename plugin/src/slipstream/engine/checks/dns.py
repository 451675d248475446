"""Check of a mail-sending domain's DNS: SPF, DKIM and DMARC, asked with a small resolver of our own."""
from __future__ import annotations

import os
import re
import socket
import struct

from slipstream.base.errors import SlipstreamError, UsageError

TXT, MX, CNAME = 16, 15, 5
ANSWER_LIMIT_S = 5.0
TRIES = 2


def _name_bytes(name: str) -> bytes:
    labels = [label.encode("idna") if not label.isascii() else label.encode() for label in name.rstrip(".").split(".")]
    if any(not 0 < len(label) < 64 for label in labels):
        raise UsageError("`%s` is not a domain name" % name)
    return b"".join(bytes((len(label),)) + label for label in labels) + b"\0"


def _skip_name(data: bytes, at: int) -> int:
    while at < len(data) and data[at]:
        if data[at] & 0xC0:
            return at + 2
        at += data[at] + 1
    return at + 1


def _query(name: str, kind: int, server: tuple[str, int], over_tcp: bool = False) -> bytes:
    question = os.urandom(2) + struct.pack(">HHHHH", 0x0100, 1, 0, 0, 0) + _name_bytes(name) + struct.pack(">HH", kind, 1)
    family = socket.AF_INET6 if ":" in server[0] else socket.AF_INET
    for _try in range(TRIES):
        try:
            with socket.socket(family, socket.SOCK_STREAM if over_tcp else socket.SOCK_DGRAM) as link:
                link.settimeout(ANSWER_LIMIT_S)
                link.connect(server)
                if over_tcp:
                    link.sendall(struct.pack(">H", len(question)) + question)
                    data = _read_exactly(link, struct.unpack(">H", _read_exactly(link, 2))[0])
                else:
                    link.send(question)
                    data = link.recv(65535)
        except OSError:
            continue
        if len(data) >= 12 and data[:2] == question[:2]:
            return data if over_tcp or not data[2] & 2 else _query(name, kind, server, over_tcp=True)
    raise SlipstreamError("the name server %s did not answer for %s" % (server[0], name))


def _read_exactly(link: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = link.recv(count - len(data))
        if not part:
            raise OSError("closed")
        data += part
    return data


def look_up(name: str, kind: int, server: tuple[str, int]) -> list[str]:
    """Texts of the TXT records (or `MX`/`CNAME` for the presence of those); [] when the name has none."""
    data = _query(name, kind, server)
    if data[3] & 15 not in (0, 3):
        raise SlipstreamError("the name server refused %s (code %d)" % (name, data[3] & 15))
    questions, answers = struct.unpack(">HH", data[4:8])
    at = 12
    for _question in range(questions):
        at = _skip_name(data, at) + 4
    found: list[str] = []
    for _answer in range(answers):
        at = _skip_name(data, at)
        if at + 10 > len(data):
            break
        kind_found, _class, _ttl, length = struct.unpack(">HHIH", data[at:at + 10])
        value = data[at + 10:at + 10 + length]
        at += 10 + length
        if kind_found == TXT and kind == TXT:
            text, place = b"", 0
            while place < len(value):
                text += value[place + 1:place + 1 + value[place]]
                place += value[place] + 1
            found.append(text.decode("utf-8", "replace"))
        elif kind_found == kind:
            found.append("MX" if kind == MX else "CNAME")
    return found


def _name_server(text: str) -> tuple[str, int]:
    if text:
        host, _colon, port = text.rpartition(":") if text.count(":") == 1 else (text, "", "53")
        return host, int(port)
    try:
        with open("/etc/resolv.conf", encoding="utf-8", errors="replace") as stream:
            found = re.search(r"^\s*nameserver\s+(\S+)", stream.read(), re.M)
    except OSError:
        found = None
    if not found:
        raise SlipstreamError("no name server found; give one with --server IP[:PORT]")
    return found.group(1).split("%")[0], 53


def check_dns_mail(domain: str = "", server: str = "", selector: str = "resend", bounce: str = "send"
                   ) -> tuple[list[str], str]:
    if "." not in domain:
        raise UsageError("--domain names the sending domain")
    place = _name_server(server)
    problems: list[str] = []
    bounce_name = "%s.%s" % (bounce, domain) if bounce else domain
    policies = [text for text in look_up(bounce_name, TXT, place) if text.lower().startswith("v=spf1")]
    if len(policies) != 1:
        problems.append("%s has %d SPF records, it needs exactly one" % (bounce_name, len(policies)))
    elif not re.search(r"[~-]all\s*$", policies[0]):
        problems.append("the SPF record of %s does not end in ~all or -all" % bounce_name)
    if bounce and not look_up(bounce_name, MX, place):
        problems.append("%s has no MX record, so bounces are lost" % bounce_name)
    key_name = "%s._domainkey.%s" % (selector, domain)
    keys = look_up(key_name, TXT, place)
    if not any(re.search(r"\bp=\s*[A-Za-z0-9+/]{40,}", text) for text in keys):
        problems.append("%s has no DKIM key" % key_name)
    rules = [text for text in look_up("_dmarc." + domain, TXT, place) if text.upper().startswith("V=DMARC1")]
    if len(rules) != 1:
        problems.append("_dmarc.%s has %d DMARC records, it needs exactly one" % (domain, len(rules)))
    elif not re.search(r"\bp\s*=\s*(none|quarantine|reject)\b", rules[0], re.I):
        problems.append("the DMARC record has no policy")
    return problems, "%s at %s" % (domain, place[0])
