"""Entry points that build files name: Cargo, Composer, Package.swift, Gradle, Maven, sbt, Makefile and Dockerfile."""
from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from slipstream.map.imports.compiled import swift_targets
from slipstream.map.imports.tree import Tree, join

BUILD_FILES = ("Cargo.toml", "composer.json", "Package.swift", "build.gradle", "build.gradle.kts", "pom.xml", "build.sbt",
               "Makefile", "makefile", "GNUmakefile", "Dockerfile", "Containerfile")
MAX_DEPTH = 4
MAX_FILES = 200
MAX_UNMAPPED_DEPTH = 2
_CARGO_TABLE = re.compile(r"^\[\[?(bin|lib|package)\]\]?[ \t]*(?:#[^\n]*)?\n((?:(?!\[)[^\n]*(?:\n|\Z))*)", re.M)
_CARGO_VALUE = re.compile(r"^[ \t]*(name|path)[ \t]*=[ \t]*[\"']([^\"'\n]+)[\"']", re.M)
_MAIN_CLASS = re.compile(r"\b(?:mainClass(?:Name)?|mainModule|[Mm]ain-[Cc]lass)\b[\"')\]]*\s*(?:\.set\s*\(|:?=|to\b|:|\()?\s*"
                         r"(?:Some\s*\(\s*)?[\"']([\w.$]+)[\"']|<(?:mainClass|start-class|exec\.mainClass|main\.class)>\s*([\w.$]+)\s*<")
_RECIPE = re.compile(r"^\t[ \t]*[@+-]*([^\n]*(?:\\\n[^\n]*)*)", re.M)
_START = re.compile(r"^[ \t]*(?:ENTRYPOINT|CMD)[ \t]+((?:[^\n]*\\\r?\n)*[^\n]*)", re.M | re.I)
_COPY = re.compile(r"^[ \t]*(?:COPY|ADD)[ \t]+((?:--\S+[ \t]+)*)([^\n]+)", re.M | re.I)
_WORD = re.compile(r"[^\s'\"`&|;()<>=,\[\]{}]+")
_RUNNABLE = re.compile(r"\.(?:[cm]?[jt]sx?|py|sh|bash|rb|php|pl|go|lua|swift)$")


def find_in_build_files(tree: Tree, started: set[str]) -> Iterator[str]:
    """Files of the project that build files name as what runs or what others load; those `started` are known to be such."""
    rules: dict[str, Callable[[Tree, str, str], Iterator[str]]] = {
        "Cargo.toml": _cargo, "composer.json": _composer,
        "Package.swift": lambda tree, folder, text: _swift(tree, folder, text, started), "build.gradle": _main_class,
        "build.gradle.kts": _main_class, "pom.xml": _main_class, "build.sbt": _main_class, "Makefile": _makefile,
        "makefile": _makefile, "GNUmakefile": _makefile, "Dockerfile": _dockerfile, "Containerfile": _dockerfile}
    read = 0
    jvm = any(path.endswith((".java", ".kt", ".scala")) for path in tree.paths)
    for folder in sorted(tree.folders, key=lambda name: (name.count("/") + bool(name), name)):
        depth = folder.count("/") + bool(folder)
        if depth > MAX_DEPTH or read >= MAX_FILES:
            break
        for name, rule in rules.items():
            path = join(folder, name)
            if path in tree.paths or (jvm and name in ("pom.xml", "build.gradle") and depth <= MAX_UNMAPPED_DEPTH):
                text = tree.read(path)
                if text:
                    read += 1
                    yield from rule(tree, folder, text.replace("\r\n", "\n"))


def _cargo(tree: Tree, folder: str, text: str) -> Iterator[str]:
    tables = [(found.group(1), dict(_CARGO_VALUE.findall(found.group(2)))) for found in _CARGO_TABLE.finditer(text)]
    named = [(kind, table) for kind, table in tables if kind != "package"]
    candidates = [table["path"] for _, table in named if "path" in table]
    for _, table in named:
        name = table.get("name", "")
        candidates += [f"src/bin/{name}.rs", f"src/bin/{name}/main.rs"] if name and "path" not in table else []
    if any(kind == "package" for kind, _ in tables):
        candidates += ["src/lib.rs", "src/main.rs"]
        candidates += ["src/bin/" + posixpath.basename(path) for path in tree.folders.get(join(folder, "src/bin"), [])]
    yield from (path for path in (join(folder, one) for one in candidates) if path.endswith(".rs") and path in tree.paths)


def _composer(tree: Tree, folder: str, text: str) -> Iterator[str]:
    composer = tree.json(join(folder, "composer.json"))
    autoload = composer.get("autoload")
    files = autoload.get("files") if isinstance(autoload, dict) else None
    for value in (composer.get("bin"), files):
        for target in value if isinstance(value, list) else [value]:
            if isinstance(target, str) and join(folder, target) in tree.paths:
                yield join(folder, target)
    scripts = composer.get("scripts")
    for command in scripts.values() if isinstance(scripts, dict) else ():
        for line in command if isinstance(command, list) else [command]:
            yield from _runnable(tree, folder, line) if isinstance(line, str) else ()


def _swift(tree: Tree, folder: str, text: str, started: set[str]) -> Iterator[str]:
    for name, path in swift_targets(text, "executableTarget"):
        home = join(folder, path or "Sources/" + name)
        files = [file for file in sorted(tree.paths) if file.startswith(home + "/") and file.endswith(".swift")]
        if started.isdisjoint(files):
            yield from [file for file in files if posixpath.basename(file) in ("main.swift", name + ".swift")][:1] or files[:1]


def _main_class(tree: Tree, folder: str, text: str) -> Iterator[str]:
    for found in _MAIN_CLASS.finditer(text):
        name = (found.group(1) or found.group(2)).partition("$")[0].replace(".", "/")
        names = [name, name[:-2]] if name.endswith("Kt") else [name]
        files = [path for one in names for ending in (".java", ".kt", ".scala") for path in tree.with_suffix(one + ending)]
        if not files:  # Kotlin and Scala may leave out the folders of a package
            files = [path for one in names for ending in (".kt", ".scala") for path in tree.with_suffix(
                posixpath.basename(one) + ending)]
        inside = [path for path in files if not folder or path.startswith(folder + "/")]
        yield from (inside or files)[:1]


def _makefile(tree: Tree, folder: str, text: str) -> Iterator[str]:
    for recipe in _RECIPE.findall(text):
        yield from _runnable(tree, folder, recipe)


def _dockerfile(tree: Tree, folder: str, text: str) -> Iterator[str]:
    starts = [one for one in _START.findall(text) if not one.strip().lower().startswith("none")]
    copied = [word for options, words in _COPY.findall(text) if "--from" not in options
              for word in _WORD.findall(words)[:-1]]
    for command in starts[-2:]:  # of each instruction the last one counts
        yield from _runnable(tree, folder, command)
        for word in _WORD.findall(command):
            name = posixpath.basename(word)
            yield from (join(base, one) for one in copied for base in dict.fromkeys((folder, ""))
                        if posixpath.basename(one) == name and join(base, one) in tree.paths)


def _runnable(tree: Tree, folder: str, command: str) -> Iterator[str]:
    """Scripts and modules of the project a shell command runs."""
    words = _WORD.findall(command)
    for at, word in enumerate(words):
        if word.startswith("-m") and at + 1 < len(words) and "python" in words[at - 1]:
            module = words[at + 1].replace(".", "/")
            names = [module + ".py", module + "/__main__.py", "src/" + module + "/__main__.py", "src/" + module + ".py"]
        elif at and words[at - 1] in ("run", "build") and words[at - 2:at - 1] == ["go"]:
            names = [join(word, "main.go"), word]
        elif _RUNNABLE.search(word) or word.startswith(("./", "bin/", "scripts/", "script/")):
            names = [word]
        else:
            continue
        for base in dict.fromkeys((folder, "")):
            found = next((join(base, name) for name in names if join(base, name) in tree.paths), None)
            if found is not None:
                yield found
                break
