"""Which file an import means, language by language, on small trees written here."""
from __future__ import annotations

import json
import unittest

from slipstream.map.imports.resolver import Resolver

Cases = dict[tuple[str, str], object]  # (importer, specifier) -> file, list of files, or None


class Imports(unittest.TestCase):
    def check(self, language: str, files: dict[str, str], cases: Cases, kind: str = "import", names: tuple[str, ...] = (),
              hidden: tuple[str, ...] = (), declared: object = None) -> None:
        """`hidden` files can be read but are not in the map."""
        resolver = Resolver([path for path in files if path not in hidden], files.get, declared)  # type: ignore[arg-type]
        for (importer, specifier), wanted in cases.items():
            found = resolver.resolve(importer, language, (specifier, kind, names))
            expected = [] if wanted is None else [wanted] if isinstance(wanted, str) else wanted
            self.assertEqual(found, expected, (importer, specifier))

    def test_javascript_relative(self) -> None:
        files = dict.fromkeys(("src/a.ts", "src/b.tsx", "src/c/index.tsx", "src/d.mts", "src/e.js", "src/f.d.ts", "src/g.vue", "src/h.json", "x.js"), "")
        self.check("typescript", files, {
            ("src/a.ts", "./b"): "src/b.tsx", ("src/a.ts", "./b.js"): "src/b.tsx", ("src/a.ts", "./c"): "src/c/index.tsx", ("src/a.ts", "./d.mjs"): "src/d.mts",
            ("src/c/index.tsx", "../e"): "src/e.js", ("src/c/index.tsx", ".."): None, ("src/a.ts", "./f"): "src/f.d.ts", ("src/a.ts", "./g.vue?raw"): "src/g.vue",
            ("src/a.ts", "./h.json"): "src/h.json", ("src/a.ts", "../x"): "x.js", ("src/a.ts", "../../x"): None, ("src/a.ts", "./none"): None, ("src/a.ts", "react"): None,
            ("src/a.ts", "./a"): None,
        })

    def test_javascript_config_paths(self) -> None:
        config = '{\n // aliases\n "extends": "./base.json", "compilerOptions": {"paths": {"@/*": ["./src/*"], "conf": ["src/conf.ts"],}},\n}'
        files = {"tsconfig.json": config, "base.json": json.dumps({"compilerOptions": {"baseUrl": "."}}), "src/a.ts": "", "src/conf.ts": "", "src/ui/b.tsx": "",
                 "app/tsconfig.json": json.dumps({"references": [{"path": "./tsconfig.app.json"}]}),
                 "app/tsconfig.app.json": json.dumps({"compilerOptions": {"baseUrl": "src", "paths": {"~/*": ["./*"]}}}), "app/src/m.ts": "", "app/src/n/o.ts": "",
                 "loop/tsconfig.json": json.dumps({"extends": "./tsconfig.json"}), "loop/x.ts": ""}
        self.check("typescript", files, {("src/a.ts", "@/ui/b"): "src/ui/b.tsx", ("src/ui/b.tsx", "conf"): "src/conf.ts", ("app/src/m.ts", "~/n/o"): "app/src/n/o.ts",
                                         ("app/src/m.ts", "n/o"): "app/src/n/o.ts", ("loop/x.ts", "@/q"): None},
                   hidden=("tsconfig.json", "base.json", "app/tsconfig.json", "app/tsconfig.app.json", "loop/tsconfig.json"))

    def test_javascript_workspaces(self) -> None:
        files = {
            "packages/core/package.json": json.dumps({"name": "@x/core", "main": "dist/index.js", "exports": {
                ".": {"types": "./dist/index.d.ts", "import": "./dist/index.mjs"}, "./util/*": "./dist/util/*.js", "./raw": {"node": {"default": "./raw.mjs"}}},
                "imports": {"#inner": "./src/inner.ts"}}),
            "packages/core/src/index.ts": "", "packages/core/src/util/str.ts": "", "packages/core/raw.mjs": "", "packages/core/src/inner.ts": "",
            "packages/plain/package.json": json.dumps({"name": "plain"}), "packages/plain/src/index.ts": "", "packages/plain/src/deep.ts": "", "app/main.ts": "",
        }
        self.check("typescript", files, {
            ("app/main.ts", "@x/core"): "packages/core/src/index.ts", ("app/main.ts", "@x/core/util/str"): "packages/core/src/util/str.ts",
            ("app/main.ts", "@x/core/raw"): "packages/core/raw.mjs", ("packages/core/src/util/str.ts", "#inner"): "packages/core/src/inner.ts",
            ("app/main.ts", "plain"): "packages/plain/src/index.ts", ("app/main.ts", "plain/deep"): "packages/plain/src/deep.ts", ("app/main.ts", "@x/none"): None,
        })

    def test_python(self) -> None:
        files = dict.fromkeys(("src/pkg/__init__.py", "src/pkg/a.py", "src/pkg/sub/__init__.py", "src/pkg/sub/b.py", "ns/c/d.py", "scripts/run.py", "scripts/near.py", "top.py"), "")
        self.check("python", files, {
            ("top.py", "pkg.a"): "src/pkg/a.py", ("src/pkg/sub/b.py", "..a"): "src/pkg/a.py", ("src/pkg/sub/b.py", "."): "src/pkg/sub/__init__.py",
            ("src/pkg/a.py", "pkg.sub.b"): "src/pkg/sub/b.py", ("scripts/run.py", "near"): "scripts/near.py", ("src/pkg/a.py", "ns.c.d"): "ns/c/d.py",
            ("top.py", "os.path"): None, ("src/pkg/a.py", "....x"): None,
        })
        self.check("python", files, {("top.py", "pkg"): ["src/pkg/__init__.py", "src/pkg/a.py"], ("src/pkg/sub/b.py", ".."): ["src/pkg/__init__.py", "src/pkg/a.py"]},
                   names=("a", "VERSION"))
        self.check("python", files, {("top.py", "pkg.sub"): "src/pkg/sub/b.py"}, names=("b",))

    def test_go(self) -> None:
        files = {"go.mod": "module example.org/m/v2\n", "a/x.go": "", "a/y.go": "", "a/y_test.go": "", "main.go": "", "tools/go.mod": "module example.org/m/v2/tools\n", "tools/t/t.go": ""}
        self.check("go", files, {("main.go", "example.org/m/v2/a"): ["a/x.go", "a/y.go"], ("a/x.go", "example.org/m/v2"): "main.go", ("main.go", "fmt"): None,
                                 ("main.go", "example.org/m/v2/tools/t"): "tools/t/t.go", ("main.go", "example.org/other/a"): None})

    def test_rust(self) -> None:
        files = {"Cargo.toml": "[workspace]\n", "one/Cargo.toml": '[package]\nname = "crate-one"\n', "one/src/lib.rs": "", "one/src/a.rs": "", "one/src/a/b.rs": "", "one/src/c/mod.rs": "",
                 "two/Cargo.toml": '[package]\nname = "two"\n[lib]\npath = "src/two.rs"\n', "two/src/two.rs": "", "two/src/main.rs": ""}
        self.check("rust", files, {("one/src/lib.rs", "a"): "one/src/a.rs", ("one/src/lib.rs", "c"): "one/src/c/mod.rs", ("one/src/a.rs", "b"): "one/src/a/b.rs", ("one/src/a.rs", "zz"): None}, "mod")
        self.check("rust", files, {("one/src/c/mod.rs", "crate::a::b::Thing"): "one/src/a/b.rs", ("one/src/a/b.rs", "super::Other"): "one/src/a.rs",
                                   ("one/src/a/b.rs", "super::super::c::X"): "one/src/c/mod.rs", ("two/src/main.rs", "crate_one::a::X"): "one/src/a.rs",
                                   ("one/src/a.rs", "two::X"): "two/src/two.rs", ("one/src/a.rs", "std::fmt"): None, ("one/src/a.rs", "self::b::X"): "one/src/a/b.rs"}, "use")

    def test_native(self) -> None:
        files = dict.fromkeys(("lib/a.c", "lib/a.h", "include/p/a.h", "include/p/b.h", "src/x/util.h", "src/y/util.h", "src/y/m.cc"), "")
        self.check("c", files, {("lib/a.c", "a.h"): "lib/a.h", ("lib/a.c", "p/b.h"): "include/p/b.h", ("src/y/m.cc", "../x/util.h"): "src/x/util.h", ("src/y/m.cc", "util.h"): "src/y/util.h",
                                ("lib/a.c", "stdio.h"): None})

    def test_declared_packages(self) -> None:
        def declared(language: str) -> list[tuple[str, str, list[str]]]:
            return {"java": [("j/A.java", "org.x", ["A"]), ("j/B.java", "org.x", ["B"])], "kotlin": [("k/util.kt", "org.y", ["helper"])],
                    "csharp": [("c/S.cs", "N.M", ["S"])]}.get(language, [])
        files = dict.fromkeys(("j/A.java", "j/B.java", "k/util.kt", "c/S.cs", "c/T.cs"), "")
        self.check("java", files, {("k/util.kt", "org.x.A"): "j/A.java", ("k/util.kt", "org.x.B.inner"): "j/B.java", ("k/util.kt", "org.x.*"): ["j/A.java", "j/B.java"],
                                   ("j/A.java", "org.y.helper"): "k/util.kt", ("j/A.java", "java.util.List"): None}, declared=declared)
        self.check("csharp", files, {("c/T.cs", "N.M"): "c/S.cs", ("c/T.cs", "System"): None}, declared=declared)

    def test_scripting(self) -> None:
        files = {"composer.json": json.dumps({"autoload": {"psr-4": {"App\\": "src/"}, "psr-0": {"Old_": "lib"}}}), "src/M/User.php": "", "inc/f.php": "", "index.php": "",
                 "lib/gem/part.rb": "", "lib/gem.rb": "", "bin/run.sh": "", "bin/lib.sh": ""}
        self.check("php", files, {("index.php", "App\\M\\User"): "src/M/User.php", ("index.php", "\\Other\\X"): None})
        self.check("php", files, {("index.php", "inc/f.php"): "inc/f.php", ("src/M/User.php", "/inc/f.php"): "inc/f.php"}, "require")
        self.check("ruby", files, {("lib/gem.rb", "gem/part"): "lib/gem/part.rb", ("lib/gem.rb", "json"): None})
        self.check("shell", files, {("bin/run.sh", "./lib.sh"): "bin/lib.sh", ("bin/run.sh", "$(dirname $0)/lib.sh"): "bin/lib.sh", ("bin/run.sh", "${DIR}/lib.sh"): "bin/lib.sh"})

    def test_hostile_project_files(self) -> None:
        for text in ("{", "[1]", '{"compilerOptions": 3, "exports": [[[]]], "name": 5, "imports": 1, "autoload": []}', "[" * 50_000):
            files = {"tsconfig.json": text, "package.json": text, "composer.json": text, "a.ts": "", "b.php": ""}
            self.check("typescript", files, {("a.ts", "x/y"): None, ("a.ts", "#x"): None})
            self.check("php", files, {("b.php", "A\\B"): None})


if __name__ == "__main__":
    unittest.main()
