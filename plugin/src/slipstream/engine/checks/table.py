"""The checks by name: where each lives, its flags, and one line that says what it proves."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slipstream.base.errors import UsageError
from slipstream.engine.issue import closest

# name: (module, function, flags as name -> kind, takes positionals, what it proves)
CHECKS: dict[str, tuple[str, str, dict[str, Any], bool, str]] = {
    "html-access": ("pages", "check_access", {"dir": str}, False,
                    "built pages have a language, labels, alternative texts, ordered headings and unique ids"),
    "html-meta": ("pages", "check_meta", {"dir": str, "site": str}, False,
                  "built pages have their own title, description and an absolute canonical address"),
    "html-script": ("pages", "check_script", {"dir": str, "src": str, "attribute": str}, False,
                    "every built page loads a script exactly once, deferred, with its attribute set"),
    "sitemap": ("site", "check_sitemap", {"dir": str}, False,
                "sitemap.xml lists exactly the built pages and robots.txt names it"),
    "http": ("http", "check_http", {"start": str, "url": str}, True,
             "a server answers each `METHOD PATH [+Name=value] [body] -> STATUS [~text]` as written"),
    "rate-limit": ("http", "check_rate_limit", {"start": str, "url": str, "path": str, "limit": range(1, 100_000)}, False,
                   "the server answers 429 with Retry-After once the limit is passed, and not before"),
    "session": ("http", "check_session", {"start": str, "url": str, "login": str, "private": str, "logout": str}, False,
                "a private page refuses strangers, the session cookie is locked down, log-out ends the session"),
    "webhook": ("webhook", "check_webhook", {"start": str, "path": str, "scheme": str, "secret-env": str}, False,
                "a webhook takes a rightly signed event and refuses unsigned, altered and old ones"),
    "secrets": ("secrets", "check_secrets", {"dir": str, "ignored": str}, False,
                "no tracked file holds a secret and the local secret files are ignored by git"),
    "env-example": ("secrets", "check_env_example", {"dir": str, "example": str}, False,
                    "each environment variable the code reads is in the example file, and no public one is a secret"),
    "dns-mail": ("dns", "check_dns_mail", {"domain": str, "server": str, "selector": str, "bounce": str}, False,
                 "a sending domain publishes SPF, DKIM and DMARC"),
    "rls": ("postgres", "check_rls", {"db": str, "table": str, "role": str, "schema": str}, False,
            "row level security is on and the role sees none of a table's rows"),
    "migrations": ("postgres", "check_migrations", {"db": str, "dir": str}, False,
                   "all migrations apply to an empty database and leave keys, and indexes under foreign keys"),
    "commits": ("history", "check_commits", {"dir": str, "base": str}, False,
                "each commit since the base has a Conventional Commits subject"),
    "release-tag": ("history", "check_release_tag", {"dir": str, "version": str}, False,
                    "the version has an annotated tag on this commit and an entry in the change log"),
}


def load_check(name: str) -> tuple[Callable[..., tuple[list[str], str]], dict[str, Any], bool]:
    """(function, flags, takes positionals); the function returns (problems, what was looked at)."""
    if name not in CHECKS:
        near = closest(name, list(CHECKS))
        raise UsageError("no check named %s%s" % (name, ", did you mean %s?" % near if near else "; `gate check` lists them"))
    import importlib

    module, function, flags, positionals, _proves = CHECKS[name]
    found: Any = getattr(importlib.import_module("slipstream.engine.checks." + module), function)
    return found, flags, positionals
