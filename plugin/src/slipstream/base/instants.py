"""Reading instants back: ISO 8601 in the shapes that hosts and people write."""
from __future__ import annotations

from datetime import datetime, timezone


def parse_iso(text: str) -> float | None:
    """Seconds since the epoch of an ISO 8601 instant or date; None when it is not one. No zone means UTC."""
    text = text.strip().replace("Z", "+00:00").replace("z", "+00:00")
    head, dot, rest = text.partition(".")
    if dot:  # Python 3.9 takes three or six digits only
        zone = rest.lstrip("0123456789")
        text = f"{head}.{(rest[:len(rest) - len(zone)] + '000000')[:6]}{zone}"
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
    except (ValueError, OverflowError):
        return None
