"""The names in an index of definitions that may be meant by one that is not there: all are looked at, none is taken apart."""
from __future__ import annotations

from binascii import crc32
from bisect import bisect_left, bisect_right

from slipstream.map.changes import Changed
from slipstream.map.index_file import DamagedIndex, unpack
from slipstream.map.postings import BLOCK_TERMS, SearchIndex

MAX_COMPARED, SHORT_BYTES = 200, 8


def likely_names(index: SearchIndex, name: str) -> list[str]:
    """Names as exact matches keep them (see `plain_name`), most of what is shared first: those that hold a piece of `name`
    and are about as long, and those that hold it whole. Of the shortest, all that are about as long."""
    if "\0" in name:
        return []
    wanted = name.encode("utf-8", "surrogatepass")
    text = _terms(index) + b"\0"
    found: dict[bytes, int] = {}
    if len(wanted) > SHORT_BYTES:
        size = max(3, len(wanted) // 4)
        pieces = [wanted[at:at + size] for at in range(0, len(wanted) - size + 1, size)]
    else:  # short pieces stand everywhere, but few names are of that length
        pieces = [wanted] if wanted else []
        pairs = [wanted[at:at + 2] for at in range(0, len(wanted) - 1, 2)] if len(wanted) > SHORT_BYTES // 2 else []
        near = [one for one in text[:-1].split(b"\0=") if _is_as_long(one, wanted) and b"." not in one]
        found = {one: sum(pair in one for pair in pairs) for one in near}
    for piece in pieces:
        at = text.find(piece)
        while at >= 0:
            start, end = text.rfind(b"\0", 0, at) + 2, text.find(b"\0", at)
            one = text[start:end]
            if (_is_as_long(one, wanted) or wanted in one) and b"." not in one:
                found[one] = found.get(one, 0) + 1
            at = text.find(piece, end)
    best = sorted(found, key=lambda one: (-found[one], abs(len(one) - len(wanted)), one))
    return [one.decode("utf-8", "replace") for one in best[:MAX_COMPARED]]


def _is_as_long(one: bytes, wanted: bytes) -> bool:
    return 3 * len(wanted) <= 5 * len(one) <= 9 * len(wanted)


def _terms(index: SearchIndex) -> bytes:
    """The terms that begin with `=`, a zero before each; of an index that was changed some may have no documents."""
    if isinstance(index, Changed):
        return _terms(index.first) + _terms(index.second)
    first, last = max(0, bisect_right(index.firsts, b"=") - 1), bisect_left(index.firsts, b">") if index.term_count else 0
    start = index.offsets[first]
    raw = index.read(index.at_blocks + start, max(0, index.offsets[last] - start))
    texts = [b""]
    for number in range(first, last):
        block = raw[index.offsets[number] - start:index.offsets[number + 1] - start]
        if crc32(block) != index.crcs[number]:
            raise DamagedIndex("block")
        size = min(BLOCK_TERMS, index.term_count - number * BLOCK_TERMS)
        texts.append(unpack(block[:index.starts[number]])[5 * size:])
    text = b"\0".join([*texts, b""])
    at = text.rfind(b"\0=")
    return text[text.find(b"\0="):text.find(b"\0", at + 1)] if at >= 0 else b""
