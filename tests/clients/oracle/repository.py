"""Scores the files of a folder, language by language."""

from __future__ import annotations

import os
import re
import subprocess
from collections import defaultdict

from tests.clients.oracle.macros import macro_pattern, scan_macros
from tests.clients.oracle.parsing import definitions_of
from tests.clients.oracle.score import Score

LANGUAGES = {
    "py": "python", "pyi": "python", "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx",
    "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript", "go": "go", "rs": "rust",
    "java": "java", "c": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "hh": "cpp", "hxx": "cpp", "h": "h",
    "cs": "csharp", "rb": "ruby", "php": "php", "kt": "kotlin", "kts": "kotlin", "swift": "swift",
}
MAX_BYTES = 2_000_000


def language_of(path):
    return LANGUAGES.get(os.path.splitext(path)[1][1:].lower())


def list_files(root):
    """Files git knows, else every file."""
    listing = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        return sorted(os.fsdecode(name) for name in listing.stdout.split(b"\0") if name)
    return sorted(os.path.relpath(os.path.join(folder, name), root)
                  for folder, _, names in os.walk(root) for name in names)


def read_sources(root, paths):
    """(path, bytes) of regular files that are code: not huge, binary, minified or in another encoding."""
    for path in paths:
        full = os.path.join(root, path)
        if language_of(path) is None or os.path.islink(full) or not os.path.isfile(full):
            continue
        with open(full, "rb") as stream:
            source = stream.read(MAX_BYTES + 1)
        minified = len(source) > 5000 and len(source) / (source.count(b"\n") + 1) > 300
        if len(source) <= MAX_BYTES and b"\0" not in source[:4096] and not minified:
            yield path.replace(os.sep, "/"), source


def score_files(sources):
    """{language: Score} of (path, bytes) pairs; a file that the grammar cannot read to a fifth is left out."""
    sources = list(sources)
    c_like = [source for path, source in sources if re.search(r"\.(c|h|cc|cpp|cxx|hpp|hh|hxx)$", path.lower())]
    macros = macro_pattern(scan_macros(c_like)) if c_like else None
    scores = defaultdict(Score)
    for path, source in sources:
        truth = definitions_of(source, language_of(path), path, macros)
        if truth["error_share"] <= 0.2:
            scores[truth["lang"]].add_source(path, source, truth)
    return dict(scores)


def score_repository(root):
    return score_files(read_sources(root, list_files(root)))
