"""Write this hook event's JSON (and the names of the client's variables) to LAB_RECORD_DIR; stay silent."""

from __future__ import annotations

import json
import os
import sys
import time
import uuid

folder = os.environ.get("LAB_RECORD_DIR")
raw = sys.stdin.buffer.read().decode("utf-8", "replace")
if folder:
    try:
        event = json.loads(raw)
    except ValueError:
        event = {"unparsed": raw}
    entry = {"at": time.time(), "stdin": event, "names": sorted(k for k in os.environ if k.startswith("CLAUDE"))}
    target = os.path.join(folder, "%020.6f-%s.json" % (entry["at"], uuid.uuid4().hex[:8]))
    with open(target + ".part", "w", encoding="utf-8") as out:
        json.dump(entry, out)
    os.replace(target + ".part", target)
