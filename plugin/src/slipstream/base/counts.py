"""How many of a thing, in words."""
from __future__ import annotations


def count_of(number: int, noun: str) -> str:
    """`1 fact`, `1,234 facts`, `2 entries`: the noun, given for one, in the number's form."""
    many = noun[:-1] + "ies" if noun[-1:] == "y" and noun[-2:-1] not in "aeiou" else noun + ("es" if noun[-1:] in "sx" else "s")
    return f"{number:,} {noun if number == 1 else many}"
