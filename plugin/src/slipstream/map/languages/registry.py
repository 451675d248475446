"""Which language a file is in and which module reads it; `scan_source` is the one way in."""
from __future__ import annotations

from importlib import import_module

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.text import decode
from slipstream.map.model import FileScan

# Key, name for people, module, full or outline, extensions, file names, interpreters of a shebang line; as text, which costs
# an edit's map a tenth of what the same tuples cost to compile.
_TABLE = """
python | Python | python | full | py pyi pyw |  | python python2 python3 pypy3
typescript | TypeScript | javascript | full | ts mts cts |  | ts-node tsx deno bun
tsx | TSX | javascript | full | tsx |  |
javascript | JavaScript | javascript | full | js mjs cjs |  | node nodejs
jsx | JSX | javascript | full | jsx |  |
vue | Vue | markup | full | vue |  |
svelte | Svelte | markup | full | svelte |  |
astro | Astro | markup | full | astro |  |
go | Go | go | full | go |  |
rust | Rust | rust | full | rs |  |
java | Java | java | full | java |  |
kotlin | Kotlin | kotlin | full | kt kts |  | kotlin
scala | Scala | scala | full | scala sc sbt |  | scala
swift | Swift | swift | full | swift |  | swift
csharp | C# | csharp | full | cs csx |  |
php | PHP | php | full | php phtml inc |  | php
ruby | Ruby | ruby | full | rb rake gemspec ru | Rakefile Gemfile Guardfile Vagrantfile | ruby
lua | Lua | lua | full | lua |  | lua luajit
shell | Shell | shell | full | sh bash zsh ksh bats | .bashrc .zshrc .profile | sh bash zsh dash ksh
c | C | c | full | c h |  |
cpp | C++ | c | full | cc cpp cxx c++ hh hpp hxx h++ inl ipp tpp |  |
markdown | Markdown | outline_markdown | outline | md markdown mdx |  |
sql | SQL | outline_sql | outline | sql psql pgsql ddl |  |
proto | Protocol Buffers | outline_blocks | outline | proto |  |
graphql | GraphQL | outline_blocks | outline | graphql gql graphqls |  |
css | CSS | outline_css | outline | css |  |
scss | SCSS | outline_css | outline | scss less |  |
makefile | Makefile | outline_lines | outline | mk | Makefile makefile GNUmakefile | make
dockerfile | Dockerfile | outline_lines | outline | dockerfile | Dockerfile Containerfile |
terraform | Terraform | outline_blocks | outline | tf tfvars hcl |  |
json | JSON | outline_blocks | outline | json jsonc json5 |  |
toml | TOML | outline_lines | outline | toml | Pipfile Cargo.lock |
yaml | YAML | outline_lines | outline | yaml yml |  |
"""


_ROWS = ([cell.strip() for cell in line.split("|")] for line in _TABLE.strip().split("\n"))
# key: (name, module, full or outline, extensions, file names, interpreters)
LANGUAGES = {key: (name, module, depth, tuple(endings.split()), tuple(names.split()), tuple(programs.split()))
             for key, name, module, depth, endings, names, programs in _ROWS}
_BY_EXTENSION = {ext: key for key, row in LANGUAGES.items() for ext in row[3]}
_BY_NAME = {name: key for key, row in LANGUAGES.items() for name in row[4]}
# Files of one name with an ending for each use: `Dockerfile.dev`, `Makefile.common`.
_BY_STEM = {"Dockerfile": "dockerfile", "Containerfile": "dockerfile", "Makefile": "makefile", "GNUmakefile": "makefile"}
_NOT_BY_STEM = (".dockerignore", ".containerignore", ".orig", ".bak", ".rej", ".patch", ".diff", ".txt", ".html")
_BY_INTERPRETER = {name: key for key, row in LANGUAGES.items() for name in row[5]}
# Lines that define something in one of the languages: a file of such lines and no definition is reported.
_DEFINING = pattern_of(r"(?m)^(?:(?:export|public|private|protected|internal|static|final|abstract|pub|async|"
                       r"default|open|"
                       r"override|inline)[ \t]+){0,4}(?:def|class|function|func|fn|fun|struct|interface|enum|trait|module|"
                       r"record|impl|"
                       r"protocol)[ \t]+[A-Za-z_]\w*[ \t]*(?:[({:<\[]|extends\b|\r?$)")


def language_of(path: str, head: bytes = b"") -> str | None:
    """The language key for a path (with forward slashes), else by the shebang line in `head`, else None."""
    name = path.rsplit("/", 1)[-1]
    found = _BY_NAME.get(name)
    if found is None and "." in name[1:]:
        found = _BY_EXTENSION.get(name.rsplit(".", 1)[1].lower())
        if found is None:
            found = _BY_STEM.get(name.split(".", 1)[0]) if not name.endswith(_NOT_BY_STEM) else None
    elif found is None and head[:2] == b"#!":
        found = _BY_INTERPRETER.get(interpreter_of(head))
    return found


def interpreter_of(head: bytes) -> str:
    """The program a shebang line names, without its folder, version digits after a dot, or `env`; else ''."""
    words = head[2:].splitlines()[0].decode("latin-1").split() if head[:2] == b"#!" and head[2:] else []
    while words and (words[0].rsplit("/", 1)[-1] == "env" or words[0].startswith("-") or "=" in words[0]):
        del words[0]
    return words[0].rsplit("/", 1)[-1].split(".")[0] if words else ""


def needs_shebang(path: str) -> bool:
    """Whether only the first line can tell this file's language (no extension)."""
    name = path.rsplit("/", 1)[-1]
    return "." not in name[1:] and name not in _BY_NAME


def scan_source(path: str, data: bytes) -> FileScan:
    """Read one file's bytes; an unknown language gives a FileScan with language '' and only its lines counted.

    Never raises for the content of a file: what defeats a scanner ends up in `warnings`.
    """
    language = language_of(path, data[:256])
    text = decode(data)
    scan = FileScan(language or "", text.count("\n") + (text[-1:] not in ("", "\n")))
    if data[:2] == b"#!" and data[2:3] != b"[":     # Rust's attributes of a whole file begin so
        scan.hints.append("shebang:" + interpreter_of(data[:256]))
    if language is None:
        return scan
    _, module, depth, *_ = LANGUAGES[language]
    try:
        import_module("slipstream.map.languages." + module).scan(text, path, scan)
    except (IndexError, ValueError, RecursionError, AttributeError) as error:     # a bug here must not cost the whole map
        scan.warnings.append(f"scanner stopped: {type(error).__name__}: {error}")
    scan.imports = list(dict.fromkeys(scan.imports))
    if not scan.definitions and not scan.reexports and depth == "full" and _DEFINING.search(text):
        scan.warnings.append("lines look like definitions, but none was read")
    if not scan.purpose:
        scan.purpose = purpose_from_names(scan)
    return scan


def purpose_from_names(scan: FileScan) -> str:
    """What the file offers, when it has no header comment: `exports a, b, c and 4 more`."""
    definitions, outline = scan.definitions, scan.outline
    names, word = [one.name for one in definitions if one.exported and not one.overload], "exports"
    if definitions:
        if not names:
            names, word = [one.name for one in definitions], "defines"
    elif scan.reexports:
        names = [name for name, *_ in scan.reexports if name != "*"] or [
            f"all of {source}" for _, _, source, _ in scan.reexports if source]
    if not names and outline:
        kind = outline[0].kind
        word = kind[:-1] + "ies" if kind.endswith(("ty", "cy", "ry")) else kind + ("es" if kind.endswith(("s", "x")) else "s")
        names = [one.name for one in outline if one.level == 1 and one.kind == kind]
    names = list(dict.fromkeys(names))
    if not names:
        return ""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{word} {', '.join(names[:5])}{more}"
