"""Official MCP clients against our server. Where they are is said by the environment (install.sh makes it so):

SLIPSTREAM_MCP2_PYTHON, SLIPSTREAM_MCP1_PYTHON: interpreters with the official Python SDK 2.x (and mcp-types) and 1.x;
SLIPSTREAM_MCP_NODE: a folder with node_modules of the TypeScript SDK, the Inspector and node.
"""
from __future__ import annotations

import json
import os
import subprocess
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))

# One call of every tool, in an order in which each finds something.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("sp_map", {}), ("sp_map", {"path": "shop", "budget": 300}), ("sp_symbol", {"symbol": "total_price"}),
    ("sp_symbol", {"file": "shop/cart.py", "symbol": "Cart.add, total_price"}),
    ("sp_lines", {"file": "shop/cart.py", "start": 1, "end": 3}), ("sp_outline", {"file": "shop/cart.py"}),
    ("sp_search", {"query": "total price"}), ("sp_search", {"query": "cart", "format": "json"}),
    ("sp_refs", {"symbol": "total_price"}), ("sp_mindmap", {}),
    ("sp_remember", {"fact": "Prices are integers in cents", "type": "convention", "tags": ["money"],
                     "files": ["shop/cart.py"]}),
    ("sp_recall", {"query": "prices in cents"}), ("sp_search_memory", {"query": "prices cents"}),
    ("sp_timeline", {"around": "1"}), ("sp_observations", {"ids": [1]}), ("sp_lessons", {}), ("sp_savings", {}),
    ("sp_budget", {}), ("sp_budget", {"bytesRead": 360_000}), ("sp_dashboard", {}), ("sp_digest", {"openTaskHint": "prices in cents"}),
    ("sp_resume", {}),
    ("sp_forget", {"name": "prices-are-integers-in-cents"}),
]


def make_project(root: str) -> None:
    """A small project for the calls above."""
    os.makedirs(os.path.join(root, "shop"))
    with open(os.path.join(root, "shop", "cart.py"), "w", encoding="utf-8") as stream:
        stream.write('"""The shopping cart."""\n\n\nclass Cart:\n    """Items with their prices in cents."""\n\n'
                     "    def __init__(self):\n        self.items = []\n\n"
                     "    def add(self, name, cents):\n        self.items.append((name, cents))\n\n\n"
                     'def total_price(cart):\n    """Sum of the prices of all items."""\n'
                     "    return sum(cents for _, cents in cart.items)\n")
    with open(os.path.join(root, "shop", "checkout.py"), "w", encoding="utf-8") as stream:
        stream.write('"""Takes the money."""\nfrom shop.cart import Cart, total_price\n\n\n'
                     "def pay(cart: Cart):\n    return total_price(cart)\n")


def run_client(command: list[str], server: list[str], timeout_s: float = 120) -> dict[str, Any]:
    """Runs a client script with {server, calls} on standard input; its standard output is one JSON object."""
    done = subprocess.run(command, input=json.dumps({"server": server, "calls": CALLS}).encode(), capture_output=True,
                          timeout=timeout_s)
    if done.returncode:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stderr.decode()[-4000:]}")
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found
