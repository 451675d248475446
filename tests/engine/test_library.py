"""The library: origins side by side, order of requires, cycles, and what the shipped skills must be."""
from __future__ import annotations

import os
import re
import tempfile
import unittest

from slipstream.base.errors import SlipstreamError
from slipstream.engine.contract import CATEGORIES, Skill
from slipstream.engine.library import default_folders, find_skill_files, load_library, order_requires
from slipstream.engine.skill_search import render_hits, search_skills

from tests import ROOT

SHIPPED = os.path.join(ROOT, "plugin", "skills")
LISTED_LIMIT = 10


def write_skill(folder: str, name: str, requires: str = "", description: str = "") -> str:
    place = os.path.join(folder, name)
    os.makedirs(place, exist_ok=True)
    path = os.path.join(place, "SKILL.md")
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write("---\nname: %s\ndescription: %s\nslipstream:\n  category: context\n  requires: [%s]\n---\n"
                     "## Steps\n\n1. One.\n\n## Verify\n\nLook.\n"
                     % (name, description or "Use when trying out the skill %s in a test" % name, requires))
    return path


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def rules(self, folders: list[tuple[str, str]]) -> list[str]:
        return [issue.rule for issue in load_library(folders).issues]


class Loading(Folder):
    def test_good_beside_bad(self) -> None:
        write_skill(self.folder, "alpha", "beta")
        with open(write_skill(self.folder, "beta"), "w", encoding="utf-8") as stream:
            stream.write("no frontmatter\n")
        library = load_library([("folder", self.folder)])
        self.assertEqual(list(library.skills), ["alpha"])
        self.assertEqual([issue.rule for issue in library.issues], ["frontmatter"])
        with self.assertRaisesRegex(SlipstreamError, "does not satisfy the contract"):
            library.get("beta")

    def test_deep_folders_and_hidden_ones(self) -> None:
        write_skill(os.path.join(self.folder, "group"), "deep")
        write_skill(os.path.join(self.folder, ".hidden"), "unseen")
        self.assertEqual([os.path.basename(os.path.dirname(path)) for path in find_skill_files(self.folder)], ["deep"])

    def test_duplicate_name(self) -> None:
        write_skill(os.path.join(self.folder, "a"), "same")
        write_skill(os.path.join(self.folder, "b"), "same", description="Use when a second skill has the same name as another")
        self.assertEqual(self.rules([("folder", self.folder)]), ["duplicate"])

    def test_duplicate_description(self) -> None:
        write_skill(self.folder, "one", description="Use when two skills share one and the same description")
        write_skill(self.folder, "two", description="Use when two skills share one and the same description")
        self.assertEqual(self.rules([("folder", self.folder)]), ["duplicate-description"])

    def test_same_name_in_project_is_shown_not_replaced(self) -> None:
        plugin, project = os.path.join(self.folder, "plugin"), os.path.join(self.folder, "project")
        write_skill(plugin, "same", description="Use when the plugin's own skill is meant and no other")
        write_skill(plugin, "user-of-same", "same")
        write_skill(project, "same", description="Use when the project's own skill is meant and no other")
        write_skill(project, "mine", "same")
        library = load_library([("plugin", plugin), ("project", project)])
        self.assertEqual(sorted(library.skills), ["project:mine", "project:same", "same", "user-of-same"])
        self.assertEqual([issue.rule for issue in library.issues], ["shadow"])
        self.assertEqual(library.get("same").origin, "plugin")
        self.assertEqual(library.get("plugin:same").origin, "plugin")
        self.assertEqual(library.get("mine").origin, "project")
        ordered = [skill.shown_name for skill in order_requires(library, library.get("project:mine"))]
        self.assertEqual(ordered, ["project:same", "project:mine"])
        self.assertEqual(order_requires(library, library.get("user-of-same"))[0].origin, "plugin")

    def test_skills_of_the_host_alone_are_left_out(self) -> None:
        place = os.path.join(self.folder, "host")
        os.makedirs(place)
        with open(os.path.join(place, "SKILL.md"), "w", encoding="utf-8") as stream:
            stream.write("---\nname: host\ndescription: Something of the host's own\n---\nBody\n")
        library = load_library([("project", self.folder)])
        self.assertEqual((library.skills, library.issues), ({}, []))

    def test_places(self) -> None:
        for name in ("home", "root"):
            os.makedirs(os.path.join(self.folder, name, ".claude", "skills"))
        found = default_folders(os.path.join(self.folder, "root"), os.path.join(self.folder, "home"))
        self.assertEqual([origin for origin, _folder in found if origin != "plugin"], ["user", "project"])


class Requires(Folder):
    def test_order(self) -> None:
        for name, requires in (("d", "b, c"), ("b", "a"), ("c", "a"), ("a", "")):
            write_skill(self.folder, name, requires)
        library = load_library([("folder", self.folder)])
        self.assertEqual([skill.name for skill in order_requires(library, library.get("d"))], ["a", "b", "c", "d"])

    def test_self_unknown_and_cycle_are_named(self) -> None:
        for name, requires in (("one", "one"), ("two", "thre"), ("three", "four"), ("four", "five"), ("five", "three")):
            write_skill(self.folder, name, requires)
        library = load_library([("folder", self.folder)])
        text = "\n".join(str(issue) for issue in library.issues)
        self.assertIn("skill `one` requires itself", text)
        self.assertIn("requires `thre`, which is not a skill, did you mean `three`?", text)
        self.assertIn("requires go round in a circle: five -> three -> four -> five", text)
        self.assertEqual(sorted(issue.rule for issue in library.issues), ["cycle", "requires", "self"])
        with self.assertRaisesRegex(SlipstreamError, "in a circle: four -> five -> three -> four"):
            order_requires(library, library.get("four"))

    def test_unknown_skill_gives_the_closest(self) -> None:
        write_skill(self.folder, "scoped-read")
        with self.assertRaisesRegex(SlipstreamError, "did you mean scoped-read"):
            load_library([("folder", self.folder)]).get("scope-read")


class Shipped(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.library = load_library([("plugin", SHIPPED)], SHIPPED)
        cls.skills: list[Skill] = list(cls.library.skills.values())

    def test_without_a_finding(self) -> None:
        self.assertEqual([str(issue) for issue in self.library.issues], [])
        self.assertEqual(len(self.skills), 36)
        self.assertEqual({skill.category for skill in self.skills}, set(CATEGORIES))

    def test_where_the_client_looks(self) -> None:
        for skill in self.skills:
            self.assertEqual(os.path.dirname(os.path.dirname(skill.path)), SHIPPED)

    def test_few_are_listed_to_the_model(self) -> None:
        listed = [skill for skill in self.skills if skill.listed]
        self.assertLessEqual(len(listed), LISTED_LIMIT + 1)
        self.assertEqual({skill.category for skill in listed}, {"context", "memory"})
        router = self.library.get("using-slipstream").body
        for skill in listed:
            self.assertLessEqual(len(skill.description), 110, skill.name)
            if skill.name != "using-slipstream":
                self.assertIn("`%s`" % skill.name, router)

    def test_style(self) -> None:
        for skill in self.skills:
            with self.subTest(skill.name):
                self.assertNotRegex(skill.body, "[\u2014\U0001F300-\U0001FAFF]")
                self.assertLessEqual(len(skill.body.split("\n")), 110)
                for command in re.findall(r"slipstream\.pyz\" ([a-z-]+)", skill.body):
                    self.assertIn(command, ("gate", "skills"))
                if skill.gate:
                    self.assertIn('slipstream.pyz" gate run %s' % skill.name, skill.body)

    def test_every_skill_is_found_by_its_own_words(self) -> None:
        missed = []
        for skill in self.skills:
            query = " ".join(skill.tags[:3])
            if skill not in [hit for hit, _score in search_skills(self.library, query, 3)]:
                missed.append("%s: %s" % (skill.name, query))
        self.assertEqual(missed, [])

    def test_search_by_situation(self) -> None:
        for query, name in (
            ("users can read rows of other customers", "supabase-rls"),
            ("emails land in spam", "resend-domain"),
            ("stripe event signature verification fails", "payments-webhooks"),
            ("too many requests from one client", "backend-rate-limit"),
            ("page titles for google", "seo-meta-tags"),
            ("flaky test fails sometimes", "systematic-debugging"),
            ("context window almost full", "context-budget"),
            ("screen reader cannot use the form", "frontend-accessibility"),
            ("leaked api key in the repository", "cloudflare-secrets"),
            ("cut a release and tag it", "git-release-tag"),
        ):
            with self.subTest(query):
                self.assertIn(name, [hit.name for hit, _score in search_skills(self.library, query, 3)])

    def test_no_match(self) -> None:
        self.assertIn("no skill fits", render_hits(search_skills(self.library, "xylophone quartet"), "xylophone quartet"))


if __name__ == "__main__":
    unittest.main()
