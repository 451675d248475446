"""Checks of git history: commit subjects since a base, and a release tag."""
from __future__ import annotations

import os
import re

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.base.files import read_text
from slipstream.base.git import run_git

TYPES = ("feat", "fix", "docs", "style", "refactor", "perf", "test", "build", "ci", "chore", "revert")
# Conventional Commits 1.0.0: type, optional scope, optional !, colon, space, description.
SUBJECT = re.compile(r"^(%s)(\([^()\s]+\))?!?: \S.*[^.\s]$" % "|".join(TYPES))
SUBJECT_LIMIT = 72


def _git(args: list[str], folder: str, wanted: str) -> str:
    out = run_git(args, folder)
    if out is None:
        raise SlipstreamError("git cannot read %s in %s" % (wanted, os.path.abspath(folder)))
    return out.decode("utf-8", "replace")


def check_commits(dir: str = ".", base: str = "") -> tuple[list[str], str]:
    if base.startswith("-"):
        raise UsageError("--base is a revision, not an option")
    span = ["%s..HEAD" % base] if base else ["-1", "HEAD"]
    log = _git(["log", "--no-merges", "--format=%h%x00%s%x00%b%x01", *span, "--"], dir, "the commits")
    commits = [entry.split("\0") for entry in log.split("\x01\n") if entry]
    if not commits:
        return ["there is no commit since %s" % base], "0 commits"
    problems: list[str] = []
    for commit, subject, body in commits:
        if not SUBJECT.match(subject):
            problems.append("%s: `%s` is not `type(scope): description` (types: %s)" % (commit, subject, " ".join(TYPES)))
        if len(subject) > SUBJECT_LIMIT:
            problems.append("%s: the subject has %d characters, at most %d" % (commit, len(subject), SUBJECT_LIMIT))
        if "!:" in subject and "BREAKING CHANGE:" not in body and "BREAKING-CHANGE:" not in body:
            problems.append("%s: a breaking change without a `BREAKING CHANGE:` footer" % commit)
    return problems, count_of(len(commits), "commit")


def check_release_tag(dir: str = ".", version: str = "") -> tuple[list[str], str]:
    if not re.match(r"^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$", version):
        raise UsageError("--version `%s` is not a semantic version" % version)
    tag = "v" + version
    head = _git(["rev-parse", "HEAD"], dir, "HEAD").strip()
    kind = run_git(["cat-file", "-t", "refs/tags/" + tag], dir)
    problems: list[str] = []
    if kind is None:
        return ["there is no tag %s" % tag], tag
    if kind.strip() != b"tag":
        problems.append("%s is a lightweight tag; make it annotated (git tag -a)" % tag)
    if _git(["rev-parse", "refs/tags/%s^{commit}" % tag], dir, tag).strip() != head:
        problems.append("%s is not on this commit" % tag)
    if _git(["status", "--porcelain"], dir, "the work tree").strip():
        problems.append("the work tree has changes that are not in the release")
    names = [name for name in ("CHANGELOG.md", "CHANGES.md", "HISTORY.md") if os.path.isfile(os.path.join(dir, name))]
    name = names[0] if names else None
    if name is None:
        problems.append("there is no CHANGELOG.md")
    elif not re.search(r"^#+.*(?<![\d.])v?%s(?![\d.])" % re.escape(version), read_text(os.path.join(dir, name)), re.M):
        problems.append("%s has no heading for %s" % (name, version))
    return problems, tag
