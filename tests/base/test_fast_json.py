"""The quick JSON of the hot path, with CPython's accelerator and without it."""
from __future__ import annotations

import importlib
import json
import sys
import unittest
from types import ModuleType
from unittest import mock

from slipstream.base import fast_json, plain_json


def without_accelerator() -> ModuleType:
    """The module as an interpreter has it whose `_json` is not there."""
    with mock.patch.dict(sys.modules, {"_json": None}):  # by its name, so that it is found in a pyz too
        del sys.modules[fast_json.__name__]
        module = importlib.import_module(fast_json.__name__)
    vars(sys.modules["slipstream.base"])["fast_json"] = fast_json
    assert module.make_encoder is plain_json.make_encoder
    return module


class FastJson(unittest.TestCase):
    forms = [fast_json, without_accelerator()]

    def test_values_come_back(self) -> None:
        for form in self.forms:
            for value in ({"a": [1, -2.5, None, True, False], "b": {}, "c": [], "é\ud800\n\"\\": "\x00\u2028"}, [], "", 0, 1e300):
                text = form.dumps(value)
                self.assertEqual((form.loads(f" \n{text}\t"), json.loads(text)), (value, value), form)
                self.assertEqual((text.isascii(), text), (True, json.dumps(value, separators=(",", ":"))), form)

    def test_what_is_no_json_becomes_its_text(self) -> None:
        odd = {"a": float("nan"), "b": [float("-inf"), (1, {2})], 3: None, ("k",): {True: complex(1, 2)}}
        for form in self.forms:
            self.assertEqual(form.dumps(odd), '{"a":"nan","b":["-inf",[1,"{2}"]],"3":null,"(\'k\',)":{"True":"(1+2j)"}}', form)

    def test_faults_are_value_errors(self) -> None:
        for form in self.forms:
            for text in ("", " ", "{", "[1", '{"a"}', "1 2", "{} x", "nul", '"\\x"'):
                with self.assertRaises(ValueError, msg=text):
                    form.loads(text)
            self.assertEqual(form.loads('{"line": "a\nb\tc"}'), {"line": "a\nb\tc"})  # hosts have sent such
