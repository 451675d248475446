"""Which share of the relative imports of TypeScript and JavaScript files resolves to a file of the project.

    python3 -m tests.bench.imports REPOSITORY...

What does not resolve is told apart: files that are there but are no source (images, raw text), and names that no file has
(build output, virtual modules of a bundler).
"""
from __future__ import annotations

import os
import posixpath
import sys

from slipstream.map.graph import Imports, read_imports
from slipstream.map.imports.resolver import Resolver
from slipstream.map.imports.tree import project_reader
from slipstream.map.index import open_index

SCRIPTS = ("typescript", "tsx", "javascript", "jsx", "vue", "svelte", "astro")


def measure(root: str) -> None:
    imports = Imports(open_index(root, write=False).table)
    resolver = Resolver([path for path, _, _ in imports.rows], project_reader(root), imports.declared)
    total = resolved = no_source = 0
    for path, language, row in imports.rows:
        for one in read_imports(row) if language in SCRIPTS else ():
            if one[0].startswith("."):
                total += 1
                if resolver.resolve(path, language, one):
                    resolved += 1
                else:
                    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), one[0].split("?")[0]))
                    no_source += os.path.exists(os.path.join(root, target))
    share = resolved / total if total else 0
    print(f"{os.path.basename(root)}: {total} relative imports, {resolved} resolved ({share:.1%}), {no_source} of the others name a "
          f"file that is no source, {total - resolved - no_source} a file that is not there")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for repository in sys.argv[1:]:
        measure(os.path.realpath(repository))
