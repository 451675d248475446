"""Guards of the house: layers, imports, forbidden calls, module size, names, hot path, freshness of the pyz."""
from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
import unittest
from functools import lru_cache

import build_zipapp
from tests import LAUNCHER, PYZ, ROOT, SOURCE
from tests.built import built_pyz

PACKAGE = os.path.join(SOURCE, "slipstream")
MAX_MODULE_LINES = 500
BAD_NAMES = {"utils", "helpers", "common", "misc", "manager"}
FORBIDDEN_MODULES = {"pickle", "marshal", "shelve"}

# Part -> parts it may import. `base` is the standard library only; surfaces never import each other but for these.
DOMAIN = ["events", "map", "context", "memory", "engine"]
ALLOWED = {name: {"base", "build_info", *DOMAIN[:i]} for i, name in enumerate(DOMAIN)}
SURFACES = ["hooks", "statusline", "cli", "mcp", "dashboard", "doctor"]
ALLOWED.update({name: {"base", "build_info", *DOMAIN} for name in SURFACES})
ALLOWED["base"] = set()
ALLOWED["build_info"] = set()
ALLOWED["cli"] |= {"mcp", "dashboard", "doctor"}
LAUNCH_ONLY = {("hooks", "dashboard.launch"), ("mcp", "dashboard.launch")}

# The hot path: verb -> (modules of slipstream that it loads, most lines of code in them and the launcher as the pyz packs them).
# Of a finished call's 200 the launcher is 28, which the plugin's own command line goes without.
HOT_VERBS = {
    "hook post-tool-use": ("base.clock base.fast_json base.locks base.roots events.append events.ingest hooks.dispatch", 200),
    "hook pre-tool-use": ("base.fast_json hooks.dispatch hooks.small_read", 200),
    "statusline": ("base.fast_json base.roots statusline", 200),
}
SESSION = "5d8f2a10-0000-4000-8000-000000000001"
HOT_MODULES = {"sys", "os", "time", "errno", "fcntl", "msvcrt", "_json", "__future__"}


def modules() -> list[tuple[str, str]]:
    """(dotted name under slipstream, path) of every module."""
    found = []
    for folder, subfolders, names in os.walk(PACKAGE):
        subfolders[:] = [name for name in subfolders if name != "__pycache__"]
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                dotted = os.path.relpath(path, PACKAGE)[:-3].replace(os.sep, ".")
                found.append((dotted.removesuffix(".__init__"), path))
    return sorted(found)


class Said:
    """What the guards ask of a module's text: dotted names it imports wherever it does, plain names it calls, its lines."""

    def __init__(self, path: str) -> None:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        tree = ast.parse(text, path)
        self.lines, self.has_docstring = text.count("\n") + 1, bool(ast.get_docstring(tree))
        self.imports: set[str] = set()
        self.calls: list[tuple[str, int]] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self.imports.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                self.imports.add(node.module or "")
                self.imports.update(f"{node.module}.{alias.name}" for alias in node.names if node.module)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self.calls.append((node.func.id, node.lineno))


@lru_cache(1)
def said() -> dict[str, Said]:
    """Of every module by its dotted name; read and parsed once for all the guards."""
    return {dotted: Said(path) for dotted, path in modules()}


class Layers(unittest.TestCase):
    def test_arrows_point_down(self) -> None:
        for dotted, module in said().items():
            part = dotted.split(".")[0]
            for name in module.imports:
                pieces = name.split(".")
                if pieces[0] != "slipstream" or len(pieces) < 2 or pieces[1] == part or dotted == "__init__":
                    continue
                if (part, ".".join(pieces[1:3])) in LAUNCH_ONLY or name == "slipstream.dashboard":
                    continue
                self.assertIn(pieces[1], ALLOWED[part], f"{dotted} imports {name}")

    def test_standard_library_only(self) -> None:
        known = set(sys.stdlib_module_names) if sys.version_info >= (3, 10) else None
        for dotted, module in said().items():
            for name in module.imports:
                top = name.split(".")[0]
                self.assertNotIn(top, FORBIDDEN_MODULES, dotted)
                if known is not None and top not in ("slipstream", "__future__"):
                    self.assertIn(top, known, f"{dotted} imports {name}")

    def test_no_eval(self) -> None:
        for dotted, module in said().items():
            for name, line in module.calls:
                self.assertNotIn(name, ("eval", "exec"), f"{dotted}:{line}")

    def test_names_and_sizes(self) -> None:
        for dotted, module in said().items():
            self.assertNotIn(dotted.split(".")[-1], BAD_NAMES)
            self.assertLessEqual(module.lines, MAX_MODULE_LINES, dotted)
            self.assertTrue(module.has_docstring, f"{dotted} has no docstring")

    @unittest.skipIf(sys.version_info < (3, 10), "the list of standard modules came with 3.10")
    def test_no_top_level_name_hides_the_standard_library(self) -> None:
        for folder in (ROOT, SOURCE, os.path.join(ROOT, "tests")):
            for name in os.listdir(folder):
                self.assertNotIn(name.removesuffix(".py"), sys.stdlib_module_names, os.path.join(folder, name))


class HotPath(unittest.TestCase):
    """What the verbs load that run at every call; the ratio it comes to is tests/bench/hooks.py's to measure."""

    def modules_after(self, root: str, *words: str) -> set[str]:
        code = ("import os, sys\nsys.path.insert(0, sys.argv[1])\nif len(sys.argv) > 2:\n"
                " verb = sys.argv[2]\n name = 'slipstream.' + ('hooks.dispatch' if verb == 'hook' else verb)\n"
                " __import__(name)\n sys.modules[name].main(sys.argv[2:])\n"
                "else:\n import zipimport\n zipimport.zipimporter(sys.argv[1])\n"
                "sys.stderr.write(' '.join(sys.modules))\n")
        store = os.path.join(root, ".claude", "slipstream")
        os.makedirs(os.path.join(store, "dashboard"), exist_ok=True)
        os.makedirs(os.path.join(root, ".git"), exist_ok=True)
        for name, text in (("status.json", '{"memoryCount": 1}'), (os.path.join("dashboard", SESSION + ".jsonl"), '{"seq":1,"ts":""}\n')):
            with open(os.path.join(store, name), "w", encoding="utf-8") as out:
                out.write(text)
        payload = ('{"session_id": "' + SESSION + '", "cwd": %r, "hook_event_name": "PostToolUse", "tool_name": "Bash", "context_window": {},'
                   '"tool_input": {"command": "ls"}, "tool_response": {"stdout": "x"}, "tool_use_id": "t1"}' % root).replace("'", '"')
        done = subprocess.run([sys.executable, "-I", "-S", "-c", code, PYZ, *words], input=payload.encode(), capture_output=True,
                              env={**os.environ, "CLAUDE_PROJECT_DIR": root, "HOME": root, "TMPDIR": root}, timeout=60, check=True)
        self.assertFalse([name for name in os.listdir(store) if "error" in name])
        return set(done.stderr.decode().split())

    def test_modules_and_lines(self) -> None:
        packed = build_zipapp.entries(built_pyz())
        with tempfile.TemporaryDirectory() as folder:
            bare = self.modules_after(os.path.realpath(folder))
            for verb, (wanted, limit) in HOT_VERBS.items():
                found = self.modules_after(os.path.realpath(folder), *verb.split()) - bare
                ours = {name[len("slipstream."):] for name in found if name.startswith("slipstream.")}
                packages = {"base", "events", "hooks"}
                self.assertEqual(ours - packages, set(wanted.split()), verb)
                self.assertEqual({name for name in found if name.split(".")[0] != "slipstream"} - HOT_MODULES, set(), verb)
                names = ["__main__.py", "slipstream/__init__.py", *("slipstream/" + name.replace(".", "/") + ".py" for name in wanted.split())]
                lines = sum(bool(line.strip()) for name in names for line in packed[name].split(b"\n"))
                self.assertLessEqual(lines, limit, verb)

    def test_a_module_of_the_pyz_is_compiled_once(self) -> None:
        """zipimport compiles a module to tell where it lies and again to load it; the package answers the first by itself."""
        code = ("import sys, collections\nseen = collections.Counter()\n"
                "sys.addaudithook(lambda event, data: event == 'compile' and seen.update([str(data[1])]))\n"
                "sys.path.insert(0, sys.argv[1])\nimport slipstream.map.languages.python, slipstream.dashboard.launch\n"
                "import slipstream.hooks\n"
                "for name, module in list(sys.modules.items()):\n"
                "    if name.startswith('slipstream'):\n"
                "        print(name, module.__file__, module.__spec__.origin, seen[module.__file__], sep='\\t')\n")
        done = subprocess.run([sys.executable, "-I", "-S", "-c", code, PYZ], capture_output=True, timeout=60, check=True)
        rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
        self.assertIn("slipstream.map.languages.python", {row[0] for row in rows})
        packed = build_zipapp.entries(built_pyz())
        for name, path, origin, times in rows:
            self.assertIn(os.path.relpath(path, PYZ).replace(os.sep, "/"), packed)
            self.assertEqual(path, origin)
            if name != "slipstream":
                self.assertEqual(times, "1", name)


class Card(unittest.TestCase):
    def test_top_level_is_the_design_card(self) -> None:
        visible = {name for name in os.listdir(ROOT) if not name.startswith(".") and name != "__pycache__"}
        self.assertEqual(visible, {"slipstream.py", "build_zipapp.py", "plugin", "tests", "README.md", "LICENSE"})

    def test_licence_travels(self) -> None:
        with open(os.path.join(ROOT, "LICENSE"), "rb") as one, open(os.path.join(ROOT, "plugin", "LICENSE"), "rb") as two:
            self.assertEqual(one.read(), two.read())


class Pyz(unittest.TestCase):
    def test_is_what_the_source_builds(self) -> None:
        data = built_pyz()
        with open(PYZ, "rb") as stream:
            found = stream.read()
        if found != data:
            self.fail("\n".join(build_zipapp.find_differences(data, found)))
        self.assertLessEqual(len(data), build_zipapp.MAX_BYTES)

    def test_the_compressor_of_the_build(self) -> None:
        import zlib
        texts = [bytes(size) for size in (0, 1, 2, 3, 257, 258, 259, 70_000)] + [bytes(range(256)) * 3, b"abcab" * 999, b"ab\xff" + b"xyz" * 7]
        with open(os.path.join(PACKAGE, "dashboard", "static", "dom.js"), "rb") as stream:
            texts.append(stream.read())
        for text in texts:
            self.assertEqual(zlib.decompress(build_zipapp.deflate(text), -15), text)
        self.assertLess(len(build_zipapp.deflate(texts[-1])), len(texts[-1]) // 2)

    def test_check_names_what_differs(self) -> None:
        wanted = built_pyz()
        self.assertEqual(build_zipapp.find_differences(wanted, b"PK"), ["not a readable archive: File is not a zip file"])


class Launcher(unittest.TestCase):
    def run_with(self, python: str, *args: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([python, *args], capture_output=True, timeout=60, check=False)

    def test_version_and_help(self) -> None:
        for program in (LAUNCHER, PYZ):
            done = self.run_with(sys.executable, "-I", "-S", program, "--version")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertRegex(done.stdout, rb"^slipstream \d+\.\d+\.\d+\n$")
            self.assertEqual(self.run_with(sys.executable, program, "nonsense").returncode, 2)

    def test_runs_from_a_copy_anywhere(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("copy.pyz", "slipstream"):
                copy = os.path.join(folder, name)
                with open(PYZ, "rb") as source, open(copy, "wb") as target:
                    target.write(source.read())
                done = self.run_with(sys.executable, "-I", "-S", copy, "help")
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_old_python_gets_a_sentence(self) -> None:
        found = 0
        for version, flags in (("2.7", ()), ("3.6", ("-I",)), ("3.7", ("-I",)), ("3.8", ("-I",))):
            python = find_python(version)
            if python:
                found += 1
                done = self.run_with(python, *flags, PYZ, "--version")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(b"needs Python 3.9 or later", done.stderr)
                self.assertNotIn(b"Traceback", done.stderr)
                self.assertEqual(self.run_with(python, *flags, PYZ, "hook", "stop").returncode, 0)  # 2 would mean: deny
        if not found:
            self.skipTest("no Python older than 3.9 here")


def find_python(version: str) -> str | None:
    """An interpreter of that version: on the path or among pyenv's."""
    import glob
    import shutil
    pattern = os.path.join(os.path.expanduser("~"), ".pyenv", "versions", version + ".*", "bin", "python")
    return next(iter(sorted(glob.glob(pattern))), None) or shutil.which("python" + version)


if __name__ == "__main__":
    unittest.main()
