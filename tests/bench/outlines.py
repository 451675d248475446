"""`python3 -m tests.bench.outlines [NAME...]`: how the time of each outline grows with hostile files; 4 is linear.

Every token alone, mixtures of them and shuffled ones, once of SMALL and once of four times as many characters; and files of the
kinds that hurt: 5 MB of JSON in one line, brackets in brackets, fences, heredocs and quotes that nothing closes.
"""
from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator

from slipstream.map.languages.registry import LANGUAGES, scan_source

import tests as tests  # puts the package on the path

SMALL = 60_000
TIMES = 4
MUCH = 7.0              # a growth above this is named
SOME_S = 0.15           # what takes less is not looked at
TOKENS = ("\"", "'", "`", "/", "/*", "*/", "//", "\\", "\\\"", "{", "}", "(", ")", "[", "]", "<", "<<A\n", "<<-A\n", "${", "$(", "#{",
          "@{", "#", "\n#\n", "# ", "'''", '"""', "$$", "$a$", "a: ", "\na: ", "\n- ", "a = ", "\na=[", "\n[a", "\n[[", "-- ", "---\n",
          "```\n", "> ```\n", "- ```\n", "<!--", "-->", "{/*", "<pre>\n", "create table a (", "\ncreate function f() begin ", "begin ",
          "end ", "case ", ";", "\ngo\n", "\n/\n", "\ndelimiter //\n", "\r", "\0", "é", "🎉", "\t", " ", "\n", ":", "::", "a:b ", "a: \\\n",
          "define x\n", "endef\n", "from a\n", "run <<B\n", "--x:", "$x:", "@media ", "@include a(", "url(", "resource \"a\" \"b\" {\n",
          "=", "|", "? ", "!", "&", "*", "_", "__", "**", "[a](b", "a\n===\n", "\ntype A ", "message A {", "rpc a(", "\"a\":", "'a':", ",",
          "/*!", "query ", "union A = ")

Make = Callable[[int], str]


def _shuffled(seed: int) -> Make:
    def make(size: int) -> str:
        drawn = random.Random(seed)
        parts: list[str] = []
        while size > 0:
            parts.append(drawn.choice(TOKENS))
            size -= len(parts[-1])
        return "".join(parts)
    return make


def _repeated(token: str) -> Make:
    return lambda size: token * (size // len(token))


def garbage() -> Iterator[tuple[str, Make]]:
    drawn = random.Random(11)
    for token in TOKENS:
        yield repr(token), _repeated(token)
    for _ in range(40):
        mixture = "".join(drawn.choice(TOKENS) for _ in range(drawn.randint(2, 5)))
        yield repr(mixture), _repeated(mixture)
    for seed in range(5):
        yield f"shuffled {seed}", _shuffled(seed)


LARGE: dict[str, tuple[str, Make]] = {
    "json": ("5 MB in one line", lambda size: "{" + ",".join(f'"k{n}":{{"a":[1,"}}"]}}' for n in range(size)) + "}"),
    "markdown": ("a fence nothing closes", lambda size: "# a\n```\n" + "# no\n" * size),
    "yaml": ("tabs and a quote nothing closes", lambda size: 'a: "\n' + "\tb: 1\nc: [\n" * size),
    "toml": ("an array nothing closes", lambda size: "a = [\n" + "b = [\n[c]\n" * size),
    "sql": ("dollar quotes", lambda size: "create function f() as $a$ begin; $b$ end $a$;\n" * size),
    "makefile": ("defines", lambda size: "define x\na: b\n" * size + "endef\nreal:\n"),
    "dockerfile": ("heredocs", lambda size: "FROM a\nRUN <<A <<B\nfrom x\nA\n" * size),
    "terraform": ("strings in strings", lambda size: 'x = "${a("${b}")}"\ny = <<E\n{\nE\n' * size),
    "css": ("blocks in blocks", lambda size: "a{" * size + "}" * size),
    "scss": ("interpolation", lambda size: "#{a#{b}} { --x: #{c}; }\n" * size),
    "proto": ("messages in messages", lambda size: "message A {\n" * size + "}\n" * size),
    "graphql": ("block strings", lambda size: '"""\\"""\n"""\ntype A { a: Int }\n' * size)}


def seconds(name: str, text: str) -> float:
    data = text.encode("utf-8")
    best = 1e9
    for _ in range(2):
        begin = time.process_time()
        scan_source(name, data)
        best = min(best, time.process_time() - begin)
        if best > 3:
            break
    return best


def main(names: list[str]) -> int:
    worst = 0
    for key, row in LANGUAGES.items():
        if row[2] != "outline" or (names and key not in names):
            continue
        name = "file." + row[3][0] if row[3] and key != "makefile" else row[4][0]
        ratios: list[float] = []
        for what, make in garbage():
            large = seconds(name, make(SMALL * TIMES))
            if large >= SOME_S:
                ratios.append(large / seconds(name, make(SMALL)))
                if ratios[-1] > MUCH:
                    worst += 1
                    print(f"  {key}: {what} grows {ratios[-1]:.1f} times")
        what, make = LARGE[key]
        size = 5_000_000 // max(1, len(make(1000)) // 1000)
        whole = seconds(name, make(size))
        ratio = whole / max(1e-6, seconds(name, make(size // TIMES)))
        worst += ratio > MUCH
        print(f"{key}: garbage grows at most {max(ratios, default=0.0):.1f} times, {what} (5 MB) {ratio:.1f} times; 4 is linear")
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
