"""What an agent is given: hard ceilings, the same bytes for the same store, nothing when there is nothing."""
from __future__ import annotations

import os
import shutil

from slipstream.base.tokens import approx_text_tokens
from slipstream.memory import briefing, facts
from slipstream.memory.observe import capture
from slipstream.memory.recall import branch_terms
from slipstream.memory.resume import resume_result
from slipstream.memory.search import close_catalogs, render_hits, search_memory
from slipstream.memory.signal import Signal

from tests.memory import StoreCase


class Giving(StoreCase):
    def fill(self) -> None:
        for number in range(60):
            facts.add_fact(self.root, f"Walrus rule number {number} about the {'pay' if number % 2 else 'auth'}ment gateway", "convention",
                           "Explained at length. " * (number + 1), tags=["walrus"], now=f"2026-01-{number % 28 + 1:02d}T00:00:00.000Z")
        self.turn("fix the payment gateway " + "and more words " * 40, *[f"Edit src/file_number_{n}.py" for n in range(30)])
        capture(self.root, "s1")

    def test_empty_store(self) -> None:
        self.assertEqual(briefing.session_start_text(self.root, self.root), "")
        self.assertEqual(briefing.prompt_text(self.root, self.root, "what about the walrus"), "")
        self.assertEqual(resume_result(self.root), {"digest": None})
        self.assertFalse(os.path.exists(self.store))

    def test_ceilings(self) -> None:
        self.fill()
        signal = Signal("fix/payment-gateway", ["src/payment.py"], "walrus payment gateway")
        for budget in (60, 120, 300, 800, 2000):
            for source in ("startup", "resume", "compact", "clear"):
                text = briefing.session_start_text(self.root, self.root, source, "s1", signal=signal, budget_tokens=budget)
                self.assertLessEqual(approx_text_tokens(text), budget)
        self.assertGreater(approx_text_tokens(briefing.session_start_text(self.root, self.root, signal=signal)), 400)
        self.assertLessEqual(approx_text_tokens(briefing.prompt_text(self.root, self.root, "walrus rule number 9 gateway")), 300)
        self.assertLessEqual(approx_text_tokens(briefing.compact_text(self.root, self.root, "s1")), briefing.COMPACT_TOKENS)
        self.assertIn("From before the compaction", briefing.session_start_text(self.root, self.root, "compact", "s1"))

    def test_bytes_are_a_function_of_the_store(self) -> None:
        self.fill()
        signal = Signal("x", prompt="payment gateway")
        first = briefing.session_start_text(self.root, self.root, signal=signal)
        close_catalogs()
        other = self.root + "-copy"
        self.addCleanup(shutil.rmtree, other, True)
        shutil.copytree(self.root, other)  # other times, other inodes
        for name in ("facts.json", "manifest.json"):
            path = os.path.join(other, ".claude", "slipstream", "search", name)
            if os.path.exists(path):
                os.unlink(path)
        self.assertEqual(briefing.session_start_text(other, other, signal=signal), first)

    def test_a_prompt_gets_only_what_clearly_fits(self) -> None:
        self.fill()
        self.assertEqual(briefing.prompt_text(self.root, self.root, "please rename the variable"), "")
        self.assertEqual(briefing.prompt_text(self.root, self.root, "walrus"), "")
        self.assertIn("walrus-rule", briefing.prompt_text(self.root, self.root, "explain the walrus gateway"))

    def test_default_branches_and_customary_words_say_nothing(self) -> None:
        self.assertEqual([branch_terms(name) for name in ("main", "master", "HEAD", "feature/fix-42")], [{}, {}, {}, {}])
        self.assertEqual(list(branch_terms("fix/stripe-webhook").values()), ["stripe", "webhook"])

    def test_rows_are_short(self) -> None:
        self.fill()
        rows = render_hits(search_memory(self.root, "payment gateway walrus", limit=50)).split("\n")
        self.assertLessEqual(max(map(approx_text_tokens, rows)), 60)
        self.assertEqual(len(rows), 50)
