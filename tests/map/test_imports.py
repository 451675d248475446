"""Which file an import means, language by language, on small trees written here."""
from __future__ import annotations

import json
import unittest

from slipstream.map.imports.packages import own_packages
from slipstream.map.imports.resolver import Resolver
from slipstream.map.languages.registry import scan_source

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

    def test_rust_crate_roots(self) -> None:
        """Tests, examples and what a manifest names start crates of their own; folders may stand for inline modules."""
        files = {"Cargo.toml": '[package]\nname = "x"\nautotests = false\n[[test]]\nname = "all"\npath = "tests/tests.rs"\n', "src/lib.rs": "", "src/sys/unix.rs": "",
                 "src/win/sys.rs": "", "tests/tests.rs": "", "tests/util.rs": "", "tests/one.rs": "", "src/bin/tool.rs": "", "src/bin/part.rs": "", "src/macros/deep/leaf.rs": "",
                 "ex/Cargo.toml": '[package]\nname = "ex"\n', "ex/tests/a.rs": "", "ex/tests/support/mod.rs": "", "ex/tests/support/leak.rs": "", "ex/tests/inner/leaf.rs": ""}
        self.check("rust", files, {("tests/tests.rs", "util"): "tests/util.rs", ("src/lib.rs", "win/sys.rs"): "src/win/sys.rs", ("ex/tests/a.rs", "support"): "ex/tests/support/mod.rs",
                                   ("ex/tests/a.rs", "inner::leaf"): "ex/tests/inner/leaf.rs", ("src/bin/tool.rs", "part"): "src/bin/part.rs"}, "mod")
        self.check("rust", files, {("tests/one.rs", "crate::util::Dir"): "tests/util.rs", ("ex/tests/a.rs", "crate::support::leak::X"): "ex/tests/support/leak.rs",
                                   ("tests/one.rs", "x::sys::unix"): "src/sys/unix.rs", ("src/lib.rs", "crate::macros::deep::leaf::f"): "src/macros/deep/leaf.rs"})

    def test_rust_crate_root_that_is_gone(self) -> None:
        files = {"Cargo.toml": '[[test]]\npath = "tests/gone.rs"\n', "tests/util.rs": "", "tests/own.rs": "", "src/lib.rs": ""}
        for specifier in ("crate", "crate::none::X", "super::none"):
            resolver = Resolver(list(files), files.get)
            self.assertLessEqual(set(resolver.resolve("tests/util/in.rs", "rust", (specifier, "import", ()))), set(files))

    def test_rust_modules_inside_a_file(self) -> None:
        source = b"use super::a;\nmod tests {\n    use super::{b, super::c};\n    use super::*;\n    mod sub;\n    use crate::d;\n}\n#[path = \"odd/e.rs\"]\nmod e;\nmod f;\n"
        self.assertEqual([one[:2] for one in scan_source("a.rs", source).imports], [
            ("super::a", "import"), ("self::b", "import"), ("super::c", "import"), ("self::*", "import"), ("tests::sub", "mod"), ("crate::d", "import"),
            ("odd/e.rs", "mod"), ("f", "mod")])

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

    def test_native_system_headers(self) -> None:
        files = dict.fromkeys(("compat/string.h", "include/p/a.h", "src/lua.h", "src/m.c"), "")
        self.check("c", files, {("src/m.c", "string.h"): None, ("src/m.c", "p/a.h"): "include/p/a.h", ("src/m.c", "lua.h"): "src/lua.h"}, names=("system",))
        self.check("c", files, {("src/m.c", "string.h"): "compat/string.h"})

    def test_scala(self) -> None:
        def declared(language: str) -> list[tuple[str, str, list[str]]]:
            return {"scala": [("s/A.scala", "org.x", ["A", "helper"]), ("s/B.scala", "org.x", ["B"]), ("s/package.scala", "org", ["syntax"]), ("s/E.scala", "org.syntax", ["E"]),
                              ("s/me.scala", "org.x.deep", [])]}.get(language, [])
        files = dict.fromkeys(("s/A.scala", "s/B.scala", "s/package.scala", "s/E.scala", "s/me.scala"), "")
        self.check("scala", files, {
            ("s/me.scala", "org.x.{A, B}"): ["s/A.scala", "s/B.scala"], ("s/me.scala", "org.x.{A => Z, B as _}"): "s/A.scala", ("s/me.scala", "org.x.A.*, org.x.B"): ["s/A.scala", "s/B.scala"],
            ("s/me.scala", "org.x.helper as h"): "s/A.scala", ("s/me.scala", "_root_.org.x._"): ["s/A.scala", "s/B.scala"], ("s/me.scala", "org.syntax.eq.*"): "s/package.scala",
            ("s/me.scala", "syntax.E"): "s/E.scala", ("s/me.scala", "B.given"): "s/B.scala", ("s/E.scala", "scala.annotation.tailrec"): None, ("s/me.scala", "scala.util.{Try, Success}"): None, ("s/me.scala", "org.x.{"): None,
        }, declared=declared)

    def test_packages_a_file_declares(self) -> None:
        self.assertEqual(own_packages("scala", scan_source("a.scala", b"package cats\npackage data\n\nclass A\n").imports), ["cats.data"])
        self.assertEqual(own_packages("csharp", scan_source("a.cs", b"namespace A { class X {} }\nnamespace B.C { class Y {} }\n").imports), ["A", "B.C"])
        self.assertEqual(own_packages("java", scan_source("a.java", b"package a.b;\nclass X {}\n").imports), ["a.b"])

    def test_kotlin_functions_as_java_sees_them(self) -> None:
        def declared(language: str) -> list[tuple[str, str, list[str]]]:
            return {"kotlin": [("k/util.kt", "org.y", ["helper"])]}.get(language, [])
        files = dict.fromkeys(("k/util.kt", "j/A.java"), "")
        self.check("java", files, {("j/A.java", "org.y.UtilKt.helper"): "k/util.kt"}, declared=declared)

    def test_swift_targets(self) -> None:
        manifest = """let package = Package(name: "P", products: [.library(name: "Core", targets: ["Core"])], targets: [
            .target(name: "Core", dependencies: [.target(name: "Other")], path: "Source/"), .executableTarget(name: "tool"), .testTarget(name: "CoreTests", path: "Tests")])"""
        files = {"Package.swift": manifest, "Source/a.swift": "", "Source/sub/b.swift": "", "Sources/tool/main.swift": "", "Tests/t.swift": "", "Kit/k.swift": ""}
        self.check("swift", files, {("Tests/t.swift", "Core"): ["Source/a.swift", "Source/sub/b.swift"], ("Source/a.swift", "Core"): None, ("Tests/t.swift", "tool"): "Sources/tool/main.swift",
                                    ("Tests/t.swift", "Kit.Thing"): "Kit/k.swift", ("Tests/t.swift", "Foundation"): None})

    def test_lua_sheets_and_protobuf(self) -> None:
        files = dict.fromkeys(("src/a/b.lua", "src/a/c/init.lua", "spec/util.lua", "css/_vars.scss", "css/main.scss", "css/deep/x.scss", "css/deep/_index.scss", "p/q.proto", "api/p/r.proto"), "")
        self.check("lua", files, {("spec/x.lua", "a.b"): "src/a/b.lua", ("spec/x.lua", "a.c"): "src/a/c/init.lua", ("spec/x.lua", "util"): "spec/util.lua", ("spec/x.lua", "lfs"): None}, "require")
        self.check("scss", files, {("css/main.scss", "vars"): "css/_vars.scss", ("css/main.scss", "./deep/x"): "css/deep/x.scss", ("css/main.scss", "deep"): "css/deep/_index.scss",
                                   ("css/deep/x.scss", "vars"): "css/_vars.scss", ("css/main.scss", "sass:math"): None})
        self.check("proto", files, {("p/q.proto", "p/r.proto"): "api/p/r.proto", ("api/p/r.proto", "p/q.proto"): "p/q.proto", ("p/q.proto", "google/protobuf/any.proto"): None})

    def test_terraform_makefiles_and_mdx(self) -> None:
        files = dict.fromkeys(("main.tf", "modules/net/main.tf", "modules/net/out.tf", "modules/net/README.md", "live/a.tf", "Makefile", "mk/x.mk", "docs/page.mdx", "docs/card.tsx",
                               "a/theme/_vars.scss", "b/theme/_vars.scss", "b/pages/main.scss"), "")
        self.check("terraform", files, {("main.tf", "./modules/net"): ["modules/net/main.tf", "modules/net/out.tf"], ("live/a.tf", "../modules/net"): ["modules/net/main.tf", "modules/net/out.tf"],
                                        ("live/a.tf", "../"): "main.tf", ("main.tf", "./none"): None}, "module")
        self.check("makefile", files, {("Makefile", "mk/x.mk"): "mk/x.mk", ("mk/x.mk", "$(DIR)/y.mk"): None}, "include")
        self.check("markdown", files, {("docs/page.mdx", "./card"): "docs/card.tsx", ("docs/page.mdx", "@astrojs/starlight"): None})
        self.check("scss", files, {("b/pages/main.scss", "theme/vars"): "b/theme/_vars.scss"})

    def test_php_without_a_rule_for_the_class(self) -> None:
        def declared(language: str) -> list[tuple[str, str, list[str]]]:
            return {"php": [("inc/functions.php", "App\\Util", ["slug"]), ("inc/Old.php", "App\\Legacy", [])]}.get(language, [])
        files = {"composer.json": json.dumps({"autoload": {"classmap": ["inc"]}}), "inc/functions.php": "", "inc/Old.php": "", "index.php": ""}
        self.check("php", files, {("index.php", "App\\Util\\slug"): "inc/functions.php", ("index.php", "App\\Legacy\\Old"): "inc/Old.php", ("index.php", "App\\Util"): "inc/functions.php",
                                  ("index.php", "Vendor\\Thing"): None}, declared=declared)
        self.check("php", files, {("index.php", "/vendor/autoload.php"): None, ("index.php", "."): None}, "require")

    def test_tsx_jsx_and_sveltekit(self) -> None:
        files = dict.fromkeys(("src/lib/a.ts", "src/lib/B.svelte", "src/c.tsx", "src/d.astro", "src/routes/+page.svelte"), "")
        for language in ("tsx", "jsx", "vue", "svelte", "astro"):
            self.check(language, files, {("src/c.tsx", "./lib/a"): "src/lib/a.ts", ("src/routes/+page.svelte", "$lib/B.svelte"): "src/lib/B.svelte", ("src/c.tsx", "./d.astro"): "src/d.astro"})

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
