"""Doctor advises gc once the logs have grown large."""
from __future__ import annotations

import os
import tempfile
import unittest

from slipstream.engine.diagnosis import OK, WARN, Patient
from slipstream.engine.store_checks import check_sizes
from slipstream.events.log import LOGS_WARN_BYTES


class Size(unittest.TestCase):
    def test_logs_above_256_megabytes_are_told(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            folder = os.path.join(root, ".claude", "slipstream", "events")
            os.makedirs(folder)
            patient = Patient(root, root, root, {}, root, "", [])
            for number in range(4):  # sparse, each below the limit of one file
                with open(os.path.join(folder, "s%d.jsonl" % number), "wb") as stream:
                    stream.truncate(LOGS_WARN_BYTES // 4)
            self.assertEqual(check_sizes(patient)[0].level, OK)
            with open(os.path.join(folder, "s4.jsonl"), "wb") as stream:
                stream.truncate(1)
            found = check_sizes(patient)[0]
            self.assertEqual(found.level, WARN)
            self.assertIn("slipstream gc", found.remedy)


if __name__ == "__main__":
    unittest.main()
