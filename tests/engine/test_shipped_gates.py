"""Each shipped gate that needs neither an account nor a third-party program: once passing, then failing for the right reason."""
from __future__ import annotations

import concurrent.futures
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable

from slipstream.engine.gates import Evidence, run_gate
from slipstream.engine.library import load_library

from tests import ROOT
from tests.engine.data.zone import Zone

HERE = os.path.dirname(os.path.abspath(__file__))
SHOP = os.path.join(HERE, "data", "shop.py")
# Run elsewhere: against npm, PostgreSQL and wrangler in tests/clients; Stripe's needs an account.
ELSEWHERE = {"frontend-vite-react", "supabase-schema", "supabase-rls", "cloudflare-worker", "payments-checkout"}
SECRET = "sk_live_" + "51Habcdefghijklmnopqrstuvwxyz0123"

PAGE = """<!doctype html>
<html lang="en"><head><title>%(title)s</title>
<meta name="description" content="%(title)s: what this page is about, said in a sentence long enough to be useful.">
<link rel="canonical" href="https://example.com/%(path)s">
<meta property="og:title" content="%(title)s"><meta property="og:image" content="https://example.com/card.png">
<script defer data-domain="example.com" src="https://plausible.io/js/script.js"></script>
</head><body><main><h1>%(title)s</h1><h2>More</h2><img src="a.png" alt="A chart">
<form><label for="mail">Mail</label><input id="mail" type="email"><label>Name <input name="n"></label><button>Send</button></form>
<a href="/">Home</a></main></body></html>
"""


def write(root: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)


def git(root: str, *words: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for who in ("AUTHOR", "COMMITTER"):
        env["GIT_%s_NAME" % who], env["GIT_%s_EMAIL" % who] = "Tester", "tester@example.com"
    subprocess.run(["git", "-c", "init.defaultBranch=main", *words], cwd=root, env=env, check=True, capture_output=True)


def site(root: str) -> None:
    write(root, {
        "dist/index.html": PAGE % {"title": "Start", "path": ""},
        "dist/about/index.html": PAGE % {"title": "About us", "path": "about"},
        "dist/sitemap.xml": '<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
                            "<url><loc>https://example.com/index.html</loc><lastmod>2026-05-31</lastmod></url>"
                            "<url><loc>https://example.com/about</loc></url></urlset>\n",
        "dist/robots.txt": "User-agent: *\nDisallow: /search\nSitemap: https://example.com/sitemap.xml\n",
    })


def edit(name: str, old: str, new: str) -> Callable[[str], None]:
    def change(root: str) -> None:
        path = os.path.join(root, name)
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        assert old in text, (name, old)
        with open(path, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text.replace(old, new))
    return change


def repository(root: str) -> None:
    shutil.copytree(Gates.made, root, dirs_exist_ok=True)


def make_repository(root: str) -> None:
    git(root, "init", "-q", "--template=")
    write(root, {".gitignore": ".env*\n.dev.vars\n!.env.example\n.claude/\n", "CHANGELOG.md": "# Changes\n\n## 1.2.0 - 2026-05-31\n",
                 "package.json": '{"name": "x", "version": "1.2.0"}\n', ".env.example": "# the database's address\nDATABASE_URL=\nVITE_TITLE=\n",
                 "src/config.ts": "export const url = process.env.DATABASE_URL;\nexport const t = import.meta.env.VITE_TITLE;\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "chore: start")
    git(root, "switch", "-qc", "feat/list")
    write(root, {"src/list.ts": "export const list = [];\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "feat(list): show all items\n\nThe list was empty before.")
    git(root, "tag", "-am", "v1.2.0", "v1.2.0")


def commit(message: str) -> Callable[[str], None]:
    def change(root: str) -> None:
        write(root, {"more.txt": message})
        git(root, "add", "-A")
        git(root, "commit", "-qm", message)
    return change


def tests_pass(root: str) -> None:
    write(root, {"test_sum.py": "import unittest\n\nclass T(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 1, 2)\n"})


def skills(root: str) -> None:
    write(root, {".claude/skills/own/SKILL.md": "---\nname: own\ndescription: Use when the project's own way of doing things matters\n"
                 "slipstream:\n  category: context\n---\n## Steps\n\n1. One.\n\n## Verify\n\nLook.\n"})


def facts(root: str) -> None:
    from slipstream.memory.facts import add_fact
    git(root, "init", "-q")
    add_fact(root, "The dashboard's port is chosen by the system", "decision", "Two projects may run at once.", name="free-port")


def duplicate_fact(root: str) -> None:
    from slipstream.memory.facts import facts_dir
    with open(os.path.join(facts_dir(root), "free-port.md"), encoding="utf-8") as stream:
        text = stream.read()
    write(facts_dir(root), {"again.md": text.replace("name: free-port", "name: again")})


def nothing(root: str) -> None:
    pass


def track_env(root: str) -> None:
    write(root, {".env": "A=1\n"})
    git(root, "add", "-f", ".env")


START = {"start": "%s -I -S %s" % (shlex.quote(sys.executable), shlex.quote(SHOP))}
GOOD_ZONE = {
    ("send.example.com", 16): ["v=spf1 include:amazonses.com ~all"], ("send.example.com", 15): ["feedback.example.net"],
    ("resend._domainkey.example.com", 16): ["p=" + "MIGfMA0GCSqGSIb3DQEB" * 12],
    ("_dmarc.example.com", 16): ["v=DMARC1; p=quarantine"],
}

# skill: (inputs, make the project, [(what breaks it or the server's flaw, part of the output that names it)])
Break = tuple[object, str]
CASES: dict[str, tuple[dict[str, str], Callable[[str], None], list[Break]]] = {
    "frontend-accessibility": ({}, site, [
        (edit("dist/index.html", '<label for="mail">Mail</label>', ""), "<input> has no label"),
        (edit("dist/about/index.html", "<h2>", "<h4>"), "a level is skipped"),
        (edit("dist/index.html", ' lang="en"', ""), "<html> has no lang")]),
    "backend-hono-api": (START, nothing, [("health", "GET /health answered 500"), ("fallback", "answered 200, expected 404")]),
    "backend-zod-validation": (START, nothing, [("json", "answered 500, expected 400")]),
    "backend-rate-limit": ({**START, "limit": "5"}, nothing, [("limit", "no 429 within"), ("retry-after", "no usable Retry-After")]),
    "cloudflare-secrets": ({}, repository, [
        (commit("token = " + SECRET), "more.txt:1: looks like a secret"), (track_env, ".env is tracked by git"),
        (edit(".gitignore", ".dev.vars\n", ""), ".dev.vars is not ignored")]),
    "vercel-env": ({}, repository, [
        (edit("src/config.ts", "DATABASE_URL", "DATABASE_URI"), "src/config.ts:1: DATABASE_URI is read but not in .env.example"),
        (edit(".env.example", "VITE_TITLE", "VITE_API_SECRET"), "named like a secret")]),
    "vercel-deploy": ({"text": "1.4.2"}, nothing, [("fallback", "expected 404")]),
    "resend-webhook": (START, nothing, [("unsigned", "an unsigned event was accepted"), ("old", "an hour ago was accepted")]),
    "payments-webhooks": (START, nothing, [("unsigned", "altered was accepted"), ("old", "an hour ago was accepted")]),
    "auth-session": (START, nothing, [
        ("cookie", "no HttpOnly"), ("forged", "accepts an altered session cookie"), ("logout", "still works after log-out")]),
    "auth-rbac": (START, nothing, [("role", "answered 200, expected 403")]),
    "seo-meta-tags": ({}, site, [
        (edit("dist/about/index.html", "https://example.com/about", "/about"), "is not absolute"),
        (edit("dist/about/index.html", "<title>About us", "<title>Start"), "the same title as")]),
    "seo-sitemap": ({}, site, [
        (edit("dist/sitemap.xml", "/about<", "/gone<"), "has no built page"),
        (edit("dist/robots.txt", "/search", "/"), "shuts every crawler out"),
        (edit("dist/sitemap.xml", "<url><loc>https://example.com/about</loc></url>", ""), "but not in sitemap.xml")]),
    "analytics-plausible": ({}, site, [
        (edit("dist/about/index.html", "plausible.io", "other.io"), "loaded 0 times"),
        (edit("dist/about/index.html", '"example.com" src', '"staging.example.com" src'), "differs between pages")]),
    "git-conventional-commit": ({}, repository, [
        (commit("Fixed stuff"), "is not `type(scope): description`"), (commit("feat!: drop the old API"), "without a `BREAKING CHANGE:`")]),
    "git-release-tag": ({}, repository, [
        (commit("fix: one more"), "v1.2.0 is not on this commit"), (edit("package.json", "1.2.0", "1.3.0"), "there is no tag v1.3.0")]),
    "test-driven-development": ({"test": shlex.quote(sys.executable) + " -m unittest -q"}, tests_pass, [
        (edit("test_sum.py", "1 + 1, 2", "1 + 1, 3"), "exit status 1")]),
    "writing-skills": ({}, skills, [
        (edit(".claude/skills/own/SKILL.md", "## Verify", "### Verify"), "no level-two heading `## Verify`")]),
    "memory-prune": ({}, facts, [(duplicate_fact, "free-port")]),
}


def run(skill: str, root: str, given: dict[str, str], flaw: str = "") -> Evidence:
    if flaw and "start" in given:
        given = {**given, "start": "env FLAW=%s %s" % (flaw, given["start"]) if os.name == "posix" else given["start"]}
    return run_gate(LIBRARY.get(skill), root, given, os.path.join(root, "home"))


LIBRARY = load_library([("plugin", os.path.join(ROOT, "plugin", "skills"))])


class Gates(unittest.TestCase):
    made: str  # a repository of which the cases get copies

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.made = folder.name
        make_repository(cls.made)

    def test_pass_and_fail(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            done = [(name, pool.submit(self.try_gate, name)) for name in CASES if name not in ("vercel-deploy", "resend-domain")]
            for name, future in done:
                with self.subTest(name):
                    future.result()

    def try_gate(self, name: str) -> None:
        given, make, breaks = CASES[name]
        with tempfile.TemporaryDirectory() as root:
            make(root)
            evidence = run(name, root, given)
            self.assertEqual(evidence.result, "PASS", "%s: %s\n%s" % (name, evidence.reason, evidence.tail))
        for change, wanted in breaks:
            with tempfile.TemporaryDirectory() as root:
                make(root)
                if callable(change):
                    change(root)
                evidence = run(name, root, given, change if isinstance(change, str) else "")
                self.assertEqual(evidence.result, "FAIL", "%s: %s\n%s" % (name, wanted, evidence.tail))
                self.assertIn(wanted, evidence.reason + "\n" + evidence.tail, name)
                self.assertNotIn(SECRET, evidence.tail)

    def test_deployed_page(self) -> None:
        from slipstream.engine.checks.server import running
        for flaw, result in (("", "PASS"), ("fallback", "FAIL")):
            with running("%s -I -S %s" % (sys.executable, SHOP), "", {"FLAW": flaw}) as url, tempfile.TemporaryDirectory() as root:
                evidence = run("vercel-deploy", root, {"url": url, "text": "1.4.2"})
                self.assertEqual(evidence.result, result, evidence.tail)
                if not flaw:
                    old = run("vercel-deploy", root, {"url": url, "text": "1.4.3"})
                    self.assertIn("does not hold `1.4.3`", old.tail)

    def test_sending_domain(self) -> None:
        for records, wanted in (
            (GOOD_ZONE, "dns-mail: ok"),
            ({**GOOD_ZONE, ("send.example.com", 16): ["v=spf1 ~all", "v=spf1 -all"]}, "2 SPF records"),
            ({**GOOD_ZONE, ("_dmarc.example.com", 16): []}, "0 DMARC records"),
        ):
            zone = Zone(records)
            try:
                with tempfile.TemporaryDirectory() as root:
                    evidence = run("resend-domain", root, {"domain": "example.com", "server": zone.address})
                self.assertIn(wanted, evidence.tail)
                self.assertEqual(evidence.result, "PASS" if records is GOOD_ZONE else "FAIL")
            finally:
                zone.close()

    def test_none_is_forgotten(self) -> None:
        having = {skill.name for skill in LIBRARY.skills.values() if skill.gate}
        self.assertEqual(having - set(CASES) - ELSEWHERE - {"resend-domain"}, set())


if __name__ == "__main__":
    unittest.main()
