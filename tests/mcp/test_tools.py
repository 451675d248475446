"""Every tool on a small project: the published text shapes, paging, bounds, containment."""
from __future__ import annotations

import importlib
import json
import os
import tempfile
import unittest
from typing import Any
from unittest import mock

from slipstream.base.errors import SlipstreamError
from slipstream.base.locks import FileLock
from slipstream.map import fresh, keep
from slipstream.mcp import map_tools, memory_tools
from slipstream.mcp.calls import MAX_ANSWER_BYTES, bound_answer, bound_json
from slipstream.mcp.prompts import get_prompt, list_prompts
from slipstream.mcp.protocol import Connection, ProtocolError, handle_request
from slipstream.memory.search import close_catalogs

from tests.folders import FolderCase
from tests.mcp import environment, message
from tests.mcp.test_feeder import quiet_feeder

SHOP = '''"""The shopping cart."""


class Cart:
    """Items with their prices in cents."""

    def __init__(self):
        self.items = []

    def add(self, name, cents):
        self.items.append((name, cents))


def total_price(cart):
    """Sum of the prices of all items."""
    return sum(cents for _, cents in cart.items)
'''
BIG = "def huge():\n" + "".join(f"    step_{n} = 'x' * {n}  # {'pad ' * 20}\n" for n in range(900)) + "    return 1\n"


class Project(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(close_catalogs)
        self.addCleanup(setattr, fresh, "keeper", fresh.keeper)
        self.addCleanup(lambda: [keep.let_go(root) for root in list(keep._kept)])
        os.makedirs(os.path.join(self.root, "shop"))
        for name, text in (("shop/cart.py", SHOP), ("shop/pay.py", "from shop.cart import total_price\n\n\ndef pay(cart):\n"
                                                    "    return total_price(cart)\n"), ("big.py", BIG)):
            with open(os.path.join(self.root, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        patch = mock.patch.dict(os.environ, environment(HOME=self.root), clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        quiet_feeder(self)
        self.connection = Connection(self.root)

    def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = handle_request(message("tools/call", 1, name=tool, arguments=arguments), self.connection)
        result: dict[str, Any] = answer["result"]
        self.assertLessEqual(len(result["content"][0]["text"].encode()), MAX_ANSWER_BYTES)
        return result

    def text(self, tool: str, **arguments: Any) -> str:
        result = self.result(tool, **arguments)
        self.assertNotIn("isError", result, result)
        return str(result["content"][0]["text"])

    def error(self, tool: str, **arguments: Any) -> str:
        result = self.result(tool, **arguments)
        self.assertIs(result.get("isError"), True, result)
        return str(result["content"][0]["text"])


class MapTools(Project):
    def test_answers_beyond_the_ceiling_say_what_is_left(self) -> None:
        with open(os.path.join(self.root, "many.py"), "w", encoding="utf-8") as stream:
            for number in range(700):
                stream.write(f"def function_of_many_{number}(one, two, and_some_more_of_them):\n    return {number}  # {'of which there are many ' * 6}\n\n\n")
        outline = self.text("sp_outline", file="many.py")
        self.assertRegex(outline, r"\n\.\.\. [0-9]+ more; `lines` and `slice` read any part$")
        shown = json.loads(self.text("sp_outline", file="many.py", format="json"))
        self.assertEqual(len(shown["symbols"]) + shown["more"]["symbols"], 700)
        names = [f"function_of_many_{number}" for number in range(250)]
        text = self.text("sp_symbol", symbol=",".join(names))
        last = text.rpartition("\n\n")[2]
        count = int(last.split()[1])
        self.assertEqual(last, f"... {count} more; ask again for: {', '.join(names[250 - count:][:20])} and the {count - 20} after them")
        shown = json.loads(self.text("sp_symbol", symbol=",".join(names), format="json"))
        self.assertEqual([one["symbol"] for one in shown[:-1]], names[:len(shown) - 1])
        self.assertEqual(shown[-1], {"more": 251 - len(shown)})
        for number in range(60):
            with open(os.path.join(self.root, f"m{number}.py"), "w", encoding="utf-8") as stream:
                stream.write("def run():\n    pass\n\n\nrun()\n")
        text = self.text("sp_refs", symbol="run")
        self.assertEqual(text.count("  defined "), 40)
        self.assertIn("\n  20 more definitions: a larger limit shows them\n", text)
        self.assertTrue(text.endswith("... 20 more: offset=40"))
        self.assertEqual(self.text("sp_refs", symbol="run", limit=200).count("  defined "), 60)
        text = self.text("sp_refs", symbol="run", offset=40)
        self.assertEqual((text.count("  defined "), text.count("\nm")), (0, 20))
        self.assertTrue(self.text("sp_refs", symbol="run", offset=60).endswith("\nno more uses"))
        self.assertEqual(len(json.loads(self.text("sp_refs", symbol="run", format="json", offset=50))["uses"]), 10)

    def test_symbol(self) -> None:
        head, _, code = self.text("sp_symbol", symbol="total_price").partition("\n")
        self.assertEqual(head, "// shop/cart.py:14-16 (function)")
        self.assertEqual(code, SHOP[SHOP.index("def total_price"):].rstrip("\n"))
        self.assertEqual(self.text("sp_symbol", file="shop/cart.py", symbol="total_price"), f"{head}\n{code}")

    def test_several_symbols_and_one_that_is_missing(self) -> None:
        text = self.text("sp_symbol", symbol="Cart.add, pay, nothing_like_it")
        self.assertIn("// shop/cart.py:10-11 (method)", text)
        self.assertIn("// shop/pay.py:4-5 (function)", text)
        self.assertIn("no symbol 'nothing_like_it'", text)
        self.assertIn("total_price", self.error("sp_symbol", symbol="totl_price"))

    def test_symbol_in_parts(self) -> None:
        text = self.text("sp_symbol", symbol="huge")
        place = int(text.rpartition("// goes on: offset ")[2])
        rest = self.text("sp_symbol", symbol="huge", offset=place)
        self.assertIn(f"big.py:{place}-", rest)
        lines = text.split("\n")[1:-1]
        while True:
            lines += [line for line in rest.split("\n")[1:] if not line.startswith("// goes on")]
            if "// goes on: offset " not in rest:
                break
            rest = self.text("sp_symbol", symbol="huge", offset=int(rest.rpartition("// goes on: offset ")[2]))
        self.assertEqual("\n".join(lines) + "\n", BIG)

    def test_what_had_no_room_is_named_whatever_was_missing_before_it(self) -> None:
        with open(os.path.join(self.root, "big2.py"), "w", encoding="utf-8") as stream:
            stream.write(BIG.replace("huge", "huge_too"))
        text = self.text("sp_symbol", symbol="nothing_like_it, huge, huge_too, pay")
        self.assertIn("... 2 more; ask again for: huge_too, pay\n", text + "\n")

    def test_symbol_as_json_and_signature_only(self) -> None:
        value = json.loads(self.text("sp_symbol", symbol="total_price", format="json"))
        self.assertEqual((value[0]["path"], value[0]["startLine"], value[0]["endLine"]), ("shop/cart.py", 14, 16))
        self.assertTrue(self.text("sp_symbol", symbol="total_price", signature=True).endswith("def total_price(cart)"))

    def test_lines(self) -> None:
        self.assertEqual(self.text("sp_lines", file="shop/pay.py", start=4, end=400),
                         "// shop/pay.py:4-5\ndef pay(cart):\n    return total_price(cart)")
        self.assertIn('"end" (1) is before "start" (2)', self.error("sp_lines", file="shop/pay.py", start=2, end=1))
        self.assertEqual(self.text("sp_lines", file="shop/pay.py", start=40, end=400),
                         "// shop/pay.py:5-5\n    return total_price(cart)\n// line 40 is beyond the end: the file has lines 1-5")
        self.assertIn("// goes on: start ", self.text("sp_lines", file="big.py", start=1, end=900))

    def test_outline_map_and_mind_map(self) -> None:
        self.assertIn("10-11 def add(self, name, cents)", self.text("sp_outline", file="shop/cart.py"))
        self.assertEqual(json.loads(self.text("sp_outline", file="shop/cart.py", format="json"))["path"], "shop/cart.py")
        self.assertTrue(self.text("sp_map").startswith("# Project map: "))
        self.assertIn("total_price", self.text("sp_map", path="shop", budget=300))
        self.assertIn("no such folder", self.error("sp_map", path="nowhere"))
        text = self.text("sp_mindmap")
        self.assertTrue(text.startswith("```mermaid\n") and text.endswith("```"), text)
        self.assertIn("shop/", text)

    def test_search_and_references(self) -> None:
        self.assertIn("shop/cart.py:14", self.text("sp_search", query="total price").split("\n")[1])
        self.assertIn("no match", self.text("sp_search", query="zebra giraffe"))
        self.assertEqual(json.loads(self.text("sp_search", query="total price", format="json"))["hits"][0]["line"], 14)
        text = self.text("sp_refs", symbol="total_price")
        self.assertIn("shop/pay.py", text)
        self.assertIn("pay", text)
        self.assertNotIn("--offset", self.text("sp_search", query="step", limit=1))

    def test_one_at_a_time_asks_the_views_that_are_kept(self) -> None:
        held: list[bool] = []
        for module, name, tool in (("search", "search", "sp_search"), ("refs", "find_references", "sp_refs")):
            real = getattr(importlib.import_module(f"slipstream.map.{module}"), name)

            def note(*arguments: Any, real: Any = real) -> Any:
                held.append(map_tools._asking.locked())
                return real(*arguments)

            with mock.patch(f"slipstream.map.{module}.{name}", note):
                self.text(tool, **({"query": "total"} if module == "search" else {"symbol": "total_price"}))
        self.assertEqual(held, [True, True])

    def test_no_path_leaves_the_project(self) -> None:
        os.symlink("/etc", os.path.join(self.root, "link"))
        for tool, arguments in (("sp_symbol", {"symbol": "x"}), ("sp_outline", {}), ("sp_lines", {"start": 1, "end": 2})):
            for file in ("../x", "/etc/passwd", "link/passwd", "shop/../../x"):
                self.assertIn("outside the project", self.error(tool, file=file, **arguments))
        self.assertIn("outside the project", self.error("sp_map", path="link"))
        self.assertIn("outside the allowed folders", self.error("sp_map", root="/etc"))


class MemoryTools(Project):
    def test_a_facts_life(self) -> None:
        self.assertEqual(self.text("sp_remember", fact="Prices are integers in cents", type="convention", tags=["money"]),
                         'remembered "prices-are-integers-in-cents" (convention)')
        self.assertEqual(self.text("sp_recall", query="price in cents"), "## prices-are-integers-in-cents (convention)\n"
                         "Prices are integers in cents\n\nPrices are integers in cents")
        self.assertEqual(self.text("sp_remember", fact="Prices are integers in pence", name="prices-are-integers-in-cents"),
                         'updated "prices-are-integers-in-cents" (convention)')
        self.assertIn("Prices are integers in pence\n\nPrices", self.text("sp_recall", query="pence"))
        self.assertIn('in place of "prices-are-integers-in-cents"',
                      self.text("sp_remember", fact="Prices are decimals", supersedes="prices-are-integers-in-cents"))
        self.assertNotIn("pence", self.text("sp_recall", query="prices"))
        self.assertEqual(self.text("sp_forget", name="prices-are-decimals"), 'forgot "prices-are-decimals"')
        self.assertEqual(self.text("sp_forget", name="prices-are-decimals"), 'no memory named "prices-are-decimals"')
        self.assertEqual(self.text("sp_recall", query="zebra"), "no matching memories")
        self.assertIn("no memory named", self.error("sp_remember", fact="x", supersedes="nothing"))
        self.assertIn("not a memory name", self.error("sp_forget", name="../../x"))

    def test_a_lock_that_a_stranger_holds_is_told_of_and_waited_for_once(self) -> None:
        self.text("sp_remember", fact="first")
        with FileLock(os.path.join(self.root, ".claude", "slipstream", "memory")), \
                mock.patch("slipstream.memory.fact_reading.LOCK_WAIT_S", 0.0), mock.patch("slipstream.mcp.memory_tools._LEAST_WAIT_S", 0.01):
            said = self.error("sp_remember", fact="second")
        self.assertRegex(said, r"^\S+memory\.lock: another process has held this lock for the 0\.01 s")
        request = mock.Mock()
        with mock.patch("slipstream.mcp.memory_tools.time.monotonic", side_effect=[10.0, 13.0, 20.0, 30.0]):
            for left in (2.0, 0.25):  # of five seconds, what was waited for the turn counts
                with memory_tools._writing(request) as wait_s:
                    self.assertEqual(wait_s, left)

    def test_a_fact_tells_when_its_code_has_changed(self) -> None:
        self.text("sp_remember", fact="The total is a plain sum", files=["shop/cart.py:14-16"])
        self.assertIn("[fresh: shop/cart.py:14-16]", self.text("sp_recall", query="total sum"))
        with open(os.path.join(self.root, "shop", "cart.py"), "w", encoding="utf-8") as stream:
            stream.write(SHOP.replace("sum(cents", "max(cents"))
        self.assertIn("[changed: shop/cart.py:14-16]", self.text("sp_recall", query="total sum"))
        self.assertIn("nowhere.py", self.error("sp_remember", fact="y", files=["nowhere.py"]))

    def test_secrets_are_masked(self) -> None:
        self.text("sp_remember", fact="The staging login uses password = 'hunter2-swordfish-91'")
        self.assertNotIn("swordfish", self.text("sp_recall", query="staging login"))

    def test_search_pages_and_opens(self) -> None:
        for number in range(5):
            self.text("sp_remember", fact=f"Deploy step {number} runs on host alpha{number}")
        text = self.text("sp_search_memory", query="deploy step", limit=2)
        self.assertEqual(text.count("[fact]"), 2)
        self.assertTrue(text.endswith("... more: offset=2"), text)
        seen = {row.split(" ")[0] for at in (0, 2, 4)
                for row in self.text("sp_search_memory", query="deploy step", limit=2, offset=at).split("\n") if "[fact]" in row}
        self.assertEqual(len(seen), 5)
        self.assertIn("no more than 5", self.text("sp_search_memory", query="deploy step", offset=9))
        self.assertIn("alpha3", self.text("sp_observations", ids=["#fact:deploy-step-3-runs-on-host-alpha3"]))
        self.assertEqual(self.text("sp_search_memory", query="zebra giraffe"), "no matching observations")
        rows = json.loads(self.text("sp_search_memory", query="deploy", format="json"))
        self.assertEqual(rows[0]["kind"], "fact")

    def test_empty_store(self) -> None:
        self.assertEqual(self.text("sp_timeline", around="7"), "no timeline context")
        self.assertEqual(self.text("sp_observations", ids=[1]), "no observations for those ids")
        self.assertEqual(self.text("sp_lessons"), "no recurring lessons yet")
        self.assertEqual(json.loads(self.text("sp_resume")), {"digest": None})

    def test_digest_and_resume(self) -> None:
        told = json.loads(self.text("sp_digest", openTaskHint="Finish the checkout page"))
        self.assertEqual((told["ok"], told["openTask"]), (True, "Finish the checkout page"))
        self.assertTrue(os.path.isfile(told["digestPath"]))
        back = json.loads(self.text("sp_resume"))
        self.assertIn("Finish the checkout page", back["digest"])
        self.assertLessEqual({"ts", "tokensEstimate", "session", "sourcePath"}, set(back))


class ContextTools(Project):
    def test_budget_for_given_figures(self) -> None:
        first, advice = self.text("sp_budget", bytesRead=36_000).split("\n")
        self.assertEqual(first, "level=ok approxTokens=10000 target=200000 used=5% (warn 60%, compact 85%)")
        self.assertTrue(advice)
        self.assertTrue(self.text("sp_budget", actualTokens=180_000).endswith("recommendation: budget 90%, call sp_digest now"))
        self.assertIn("target=400000 used=45%", self.text("sp_budget", actualTokens=180_000, windowTokens=400_000))

    def test_budget_without_arguments_tells_the_truth_or_that_it_does_not_know(self) -> None:
        self.assertTrue(self.text("sp_budget").startswith("level=unknown approxTokens=-"))
        folder = os.path.join(self.root, ".claude", "projects", "p")
        os.makedirs(folder)
        transcript = os.path.join(folder, "s1.jsonl")
        with open(transcript, "w", encoding="utf-8") as stream:
            stream.write(json.dumps({"type": "assistant", "message": {"id": "m", "model": "claude-opus-4", "usage": {
                "input_tokens": 1000, "cache_read_input_tokens": 118_000, "cache_creation_input_tokens": 500,
                "output_tokens": 500}}}) + "\n")
        hook = {"hook_event_name": "Nope", "session_id": "s1", "transcript_path": transcript}
        self.text("sp_hook", **hook)
        text = self.text("sp_budget")
        self.assertIn("approxTokens=119500", text)
        self.assertIn("source: transcript, session s1", text)

    def test_savings(self) -> None:
        self.assertEqual(self.text("sp_savings"), "no scoped reads recorded yet")
        self.text("sp_symbol", symbol="total_price")
        self.assertIn("1 scoped read served", self.text("sp_savings"))

    def test_dashboard_switched_off(self) -> None:
        self.assertIn("switched off", self.text("sp_dashboard"))


class Bounds(unittest.TestCase):
    def test_whole_lines_and_an_honest_count(self) -> None:
        text = "\n".join(f"line {n} é" for n in range(9_000))
        cut = bound_answer(text)
        self.assertLessEqual(len(cut.encode()), MAX_ANSWER_BYTES)
        shown = cut.split("\n")
        self.assertIn(f"cut here: {9_000 - len(shown) + 1:,} more lines", shown[-1])
        self.assertEqual(bound_answer("x"), "x")

    def test_json_stays_json(self) -> None:
        rows = [{"n": n, "text": "é" * 100} for n in range(900)]
        for value in (rows, {"hits": rows, "few": [1, 2], "total": 900}):
            text = bound_json(json.dumps(value))
            self.assertLessEqual(len(text.encode()), MAX_ANSWER_BYTES)
            cut = json.loads(text)
            shown = cut["hits"] if isinstance(cut, dict) else cut[:-1]
            self.assertEqual(shown, rows[:len(shown)])
            self.assertGreater(len(shown), 130)
            left = 900 - len(shown)
            self.assertEqual(*((cut["more"], {"hits": left}) if isinstance(cut, dict) else (cut[-1], {"more": left})))
        self.assertEqual(bound_json('{"a":[1]}'), '{"a":[1]}')
        for far in ({"text": "x" * 40_000}, ["x" * 40_000]):
            with self.assertRaisesRegex(SlipstreamError, "ask for less"):
                bound_json(json.dumps(far))



class Resources(Project):
    def ask(self, method: str, **params: Any) -> Any:
        return handle_request(message(method, 1, **params), self.connection)

    def test_list_and_read(self) -> None:
        self.text("sp_remember", fact="Prices: cents/integers")
        listed = self.ask("resources/list")["result"]["resources"]
        self.assertEqual([one["uri"] for one in listed], ["slipstream://map", "slipstream://memory/prices-cents-integers"])
        for one in listed:
            contents = self.ask("resources/read", uri=one["uri"])["result"]["contents"]
            self.assertEqual((contents[0]["uri"], contents[0]["mimeType"]), (one["uri"], "text/markdown"))
            self.assertTrue(contents[0]["text"])

    def test_pages(self) -> None:
        with mock.patch("slipstream.mcp.resources.PAGE_SIZE", 2):
            for number in range(5):
                self.text("sp_remember", fact=f"Fact number {number}")
            found, cursor = [], {}
            while True:
                result = self.ask("resources/list", **cursor)["result"]
                found += [one["name"] for one in result["resources"]]
                if "nextCursor" not in result:
                    break
                cursor = {"cursor": result["nextCursor"]}
            self.assertEqual(found, ["map", *[f"fact-number-{n}" for n in range(5)]])
        for cursor in ("x", "-1", 3, "1" * 99):
            self.assertIn("error", self.ask("resources/list", cursor=cursor))

    def test_an_escaping_name_is_no_resource(self) -> None:
        for uri in ("slipstream://memory/..%2F..%2Fx", "slipstream://memory/%00", "slipstream://memory/\ud800",
                    "slipstream://observation/1"):
            self.assertIn("error", self.ask("resources/read", uri=uri), uri)


class Prompts(unittest.TestCase):
    def test_the_plugins_disciplines(self) -> None:
        names = [one["name"] for one in list_prompts()]
        self.assertIn("using-slipstream", names)
        self.assertNotIn("supabase-rls", names)
        for name in names:
            self.assertTrue(get_prompt(name)["messages"][0]["content"]["text"].startswith("#"))

    def test_a_pyz_copied_alone_has_none(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(list_prompts(folder), [])
            os.makedirs(os.path.join(folder, "context", "good"))
            os.makedirs(os.path.join(folder, "context", "bad"))
            for name, text in (("good", '---\nname: "a: b"\ndescription: d\n---\n\nBody\n'), ("bad", "---\nname: [\n---\n")):
                with open(os.path.join(folder, "context", name, "SKILL.md"), "w", encoding="utf-8") as stream:
                    stream.write(text)
            self.assertEqual(list_prompts(folder), [{"name": "a: b", "description": "d"}])
            self.assertEqual(get_prompt("a: b", folder)["messages"][0]["content"]["text"], "Body")
            with self.assertRaises(ProtocolError):
                get_prompt("bad", folder)
