"""One process of the storm in test_storm: captures, remembers and forgets until it is killed or has done its rounds."""
from __future__ import annotations

import os
import sys


def main(root: str, number: int, rounds: int) -> None:
    from slipstream.events.append import append_event
    from slipstream.memory.facts import add_fact, prune_fact
    from slipstream.memory.observe import capture
    session = f"s{number % 5}"
    for turn in range(rounds):
        append_event(root, session, "main", "user-prompt", f"worker {number} turn {turn}")
        append_event(root, session, "main", "post-tool", f"Edit src/w{number}/t{turn}.py")
        append_event(root, session, "main", "stop", "turn finished")
        capture(root, session)
        add_fact(root, f"worker {number} keeps {turn}", "fact", f"body {number} {turn}")
        os.write(1, f"kept worker-{number}-keeps-{turn}\n".encode())
        add_fact(root, f"worker {number} drops {turn}", "fact", "gone soon")
        prune_fact(root, f"worker-{number}-drops-{turn}")


if __name__ == "__main__":
    import tests  # noqa: F401  (puts the package on the path)
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
