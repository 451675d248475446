"""The skill library: skills of the plugin, the user and the project, good ones beside bad ones, none replaced silently."""
from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text
from slipstream.engine.contract import Skill, parse_skill
from slipstream.engine.issue import ERROR, NOTE, WARNING, Issue, closest, sort_issues
from slipstream.engine.places import plugin_skills_dir

SKILL_FILE = "SKILL.md"
SKILL_LIMIT_BYTES = 400_000
DEPTH_LIMIT = 6
ORIGINS = ("plugin", "user", "project")
NOT_BESIDE = ": the plugin's own lie beside its pyz; --skills DIR names another folder"


class Library:
    """Loaded skills by shown name, in path order, with every issue found."""

    def __init__(self) -> None:
        self.skills: dict[str, Skill] = {}
        self.issues: list[Issue] = []
        self.broken: dict[str, str] = {}

    def find(self, name: str, near: str = "") -> Skill | None:
        """The skill called `name`; a plain name prefers the origin `near`, then the plugin's, the user's, the project's."""
        if ":" in name:
            origin, _colon, plain = name.partition(":")
            if origin == "plugin":
                name = plain
            return self.skills.get(name)
        for origin in ([near] if near else []) + list(ORIGINS):
            found = self.skills.get(name if origin in ("plugin", "folder") else "%s:%s" % (origin, name))
            if found:
                return found
        return None

    def get(self, name: str) -> Skill:
        """The skill called `name`; SlipstreamError with the closest name when there is none."""
        skill = self.find(name)
        if skill:
            return skill
        if name in self.broken:
            raise SlipstreamError("skill %s does not satisfy the contract; `slipstream validate` says why" % name,
                                  path=self.broken[name])
        near = closest(name, list(self.skills))
        raise SlipstreamError("no skill named %s%s" % (name, ", did you mean %s?" % near if near else ""))


def find_skill_files(folder: str) -> list[str]:
    """Every SKILL.md below `folder`, sorted; links to folders are not followed."""
    found: list[str] = []
    base_depth = folder.rstrip(os.sep).count(os.sep)
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if place.count(os.sep) - base_depth >= DEPTH_LIMIT:
            folders[:] = []
        if SKILL_FILE in files:
            found.append(os.path.join(place, SKILL_FILE))
    return sorted(found)


def default_folders(root: str, home: str) -> list[tuple[str, str]]:
    """(origin, folder) of the three places skills come from, absent ones left out."""
    places = [("plugin", plugin_skills_dir()), ("user", os.path.join(home, ".claude", "skills")),
              ("project", os.path.join(root, ".claude", "skills"))]
    out: list[tuple[str, str]] = []
    for origin, folder in places:
        if folder and os.path.isdir(folder) and os.path.realpath(folder) not in [os.path.realpath(f) for _o, f in out]:
            out.append((origin, folder))
    return out


def load_library(folders: Iterable[tuple[str, str]], shown_root: str = "") -> Library:
    """Load all skills below the (origin, folder) pairs; one bad file never keeps another from loading.

    A skill of the user or the project without a `slipstream` block is the host's alone: it is left out quietly.
    """
    library = Library()
    seen_description: dict[str, Skill] = {}
    for origin, folder in folders:
        for path in find_skill_files(folder):
            _load_one(library, path, origin, _shown(path, shown_root), seen_description)
    _check_requires(library)
    library.issues = sort_issues(library.issues)
    return library


def _shown(path: str, shown_root: str) -> str:
    if shown_root:
        relative = os.path.relpath(path, shown_root)
        if not relative.startswith(".."):
            path = relative
    return path.replace(os.sep, "/")


def _load_one(library: Library, path: str, origin: str, shown: str, seen: dict[str, Skill]) -> None:
    try:
        text = read_text(path, SKILL_LIMIT_BYTES)
    except (OSError, SlipstreamError) as error:
        library.issues.append(Issue(shown, 0, ERROR, "unreadable", "cannot be read: %s" % error))
        return
    if origin in ("user", "project") and "\nslipstream:" not in text.replace("\r\n", "\n"):
        return
    skill, issues = parse_skill(text, path, origin, shown)
    library.issues.extend(issues)
    if skill is None:
        library.broken[os.path.basename(os.path.dirname(path))] = shown
        return
    skill.digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    line = skill.lines.get("name", 1)
    key = skill.shown_name
    first = library.skills.get(key)
    if first:
        library.issues.append(Issue(shown, line, ERROR, "duplicate",
                                    "skill `%s` is already defined in %s" % (skill.name, first.path)))
        return
    if origin != "plugin" and origin != "folder" and skill.name in library.skills:
        library.issues.append(Issue(shown, line, NOTE, "shadow", "the plugin has a skill `%s` too; this one is `%s`"
                                    % (skill.name, skill.shown_name)))
    twin = seen.get(skill.description.lower())
    if twin:
        library.issues.append(Issue(shown, skill.lines.get("description", 1), WARNING, "duplicate-description",
                                    "the description is the same as that of `%s`" % twin.shown_name))
    seen.setdefault(skill.description.lower(), skill)
    library.skills[key] = skill


def _check_requires(library: Library) -> None:
    for skill in library.skills.values():
        line = skill.lines.get("slipstream.requires", 1)
        shown = next((issue.path for issue in library.issues if issue.path.endswith(skill.path)), skill.path)
        for name in skill.requires:
            if name == skill.name:
                library.issues.append(Issue(shown, line, ERROR, "self", "skill `%s` requires itself" % name))
            elif library.find(name, skill.origin) is None:
                if name in library.broken:
                    continue
                near = closest(name, [other.name for other in library.skills.values()])
                library.issues.append(Issue(shown, line, ERROR, "requires", "requires `%s`, which is not a skill%s"
                                            % (name, ", did you mean `%s`?" % near if near else "")))
    for cycle in find_cycles(library):
        skill = library.skills[cycle[0]]
        library.issues.append(Issue(skill.path, skill.lines.get("slipstream.requires", 1), ERROR, "cycle",
                                    "requires go round in a circle: %s" % " -> ".join(cycle + [cycle[0]])))


def _needs(library: Library, skill: Skill) -> list[Skill]:
    found = (library.find(name, skill.origin) for name in skill.requires)
    return [needed for needed in found if needed is not None and needed is not skill]


def find_cycles(library: Library) -> list[list[str]]:
    """Each circle of `requires` once, as shown names starting with the alphabetically first."""
    cycles: list[list[str]] = []
    state: dict[str, int] = {}

    def visit(skill: Skill, trail: list[str]) -> None:
        state[skill.shown_name] = 1
        trail.append(skill.shown_name)
        for needed in _needs(library, skill):
            name = needed.shown_name
            if state.get(name) == 1:
                ring = trail[trail.index(name):]
                start = ring.index(min(ring))
                ring = ring[start:] + ring[:start]
                if ring not in cycles:
                    cycles.append(ring)
            elif name not in state:
                visit(needed, trail)
        trail.pop()
        state[skill.shown_name] = 2

    for name in sorted(library.skills):
        if name not in state:
            visit(library.skills[name], [])
    return cycles


def order_requires(library: Library, skill: Skill) -> list[Skill]:
    """The skill's requirements and then the skill, each after all it requires; a circle or a gap is a SlipstreamError."""
    ordered: list[Skill] = []
    trail: list[str] = []

    def visit(current: Skill) -> None:
        if current in ordered:
            return
        if current.shown_name in trail:
            raise SlipstreamError("requires go round in a circle: %s" % " -> ".join(
                trail[trail.index(current.shown_name):] + [current.shown_name]))
        trail.append(current.shown_name)
        for name in current.requires:
            needed = library.find(name, current.origin)
            if needed is None:
                raise SlipstreamError("%s requires %s, which is not loaded" % (current.shown_name, name))
            visit(needed)
        trail.pop()
        ordered.append(current)

    visit(skill)
    return ordered
