"""Doctor says which of the user's own redaction patterns are refused, and why."""
from __future__ import annotations

import os
import tempfile
import unittest

from slipstream.engine.diagnosis import OK, WARN, Patient
from slipstream.engine.store_checks import check_redaction


class Redaction(unittest.TestCase):
    def test_refused_patterns_are_named(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            patient = Patient(root, root, root, {}, root, "", [])
            self.assertEqual(check_redaction(patient)[0].level, OK)
            folder = os.path.join(root, ".claude", "slipstream")
            os.makedirs(folder)
            for text, level, word in (('{"patterns": [{"pattern": "ab+"}]}', OK, "1 of your own"), ("{", WARN, "not readable"),
                                      ('{"patterns": [{"pattern": "(a+)+"}, {"pattern": "b"}]}', WARN, "unbounded repeat inside another")):
                with open(os.path.join(folder, "redact.json"), "w", encoding="utf-8") as stream:
                    stream.write(text)
                found = check_redaction(patient)[0]
                self.assertEqual(found.level, level)
                self.assertIn(word, found.detail)


if __name__ == "__main__":
    unittest.main()
