"""The one redactor: published cases with our differences, every provider's shape, structure, what has to pass, custom rules."""
from __future__ import annotations

import itertools
import json
import os
import random
import string
import tempfile
import time
import unittest
from typing import Any

from slipstream.events import patterns
from slipstream.events.append import append_event, is_suspect
from slipstream.events.custom_rules import check_rules, find_danger
from slipstream.events.log import read_events
from slipstream.events.redact import redact_data, redact_event, redact_text

from tests.folders import FolderCase

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "redaction.json")
LETTERS, FIGURES = string.ascii_letters, string.digits
MIXED, HEX, CAPITALS = LETTERS + FIGURES, "0123456789abcdef", string.ascii_uppercase + FIGURES


def join(value: Any) -> Any:
    """Undoes the data file's cutting, which keeps invented keys out of sight of scanners."""
    if isinstance(value, list):
        return "".join(value)
    if isinstance(value, dict):
        if set(value) == {"list"}:
            return [join(item) for item in value["list"]]
        if set(value) == {"repeat"}:
            before, letter, count = value["repeat"]
            return before + letter * count
        return {key: join(item) for key, item in value.items()}
    return value


def invent(alphabet: str, length: int, seed: int) -> str:
    """A random body with at least three figures and a capital where the alphabet has them."""
    rng = random.Random(seed)
    body = [rng.choice(alphabet) for _ in range(length)]
    for place, letter in ((1, "7"), (length // 2, "3"), (length - 2, "9"), (3, "Q"), (4, "k")):
        if letter in alphabet:
            body[place] = letter
    return "".join(body)


def label_of(text: str) -> str:
    """A label as the log holds it."""
    return str(json.loads(redact_event("/nowhere", {"session": "s", "agent": "main", "kind": "stop", "label": text}))["label"])


class Published(unittest.TestCase):
    def test_cases_of_the_published_implementation(self) -> None:
        with open(DATA, encoding="utf-8") as stream:
            rows = json.load(stream)
        self.assertGreater(len(rows), 40)
        for row in rows:
            given, wanted = join(row["input"]), join(row["ours"])
            with self.subTest(given):
                found = {"text": lambda v: redact_text(v)[0], "data": lambda v: redact_data(v)[0], "label": label_of}[row["kind"]](given)
                self.assertEqual(found, wanted)
                if "published" in row:  # a difference, and each has its reason
                    self.assertNotEqual(join(row["published"]), wanted)
                    self.assertTrue(row["why"])


class Providers(unittest.TestCase):
    # Prefix, length and alphabet of the body; every token is invented here.
    SHAPES = (
        ("anthropic-key", "sk-ant-" + "api03-", 95, MIXED + "-_"), ("openai-key", "sk-" + "proj-", 120, MIXED + "-_"),
        ("openai-key", "sk-", 48, MIXED), ("openai-key", "sk-" + "svcacct-", 80, MIXED), ("openai-key", "sk-" + "or-v1-", 64, HEX),
        ("github-token", "ghp" + "_", 36, MIXED), ("github-token", "gho" + "_", 36, MIXED), ("github-token", "ghu" + "_", 36, MIXED),
        ("github-token", "ghs" + "_", 36, MIXED), ("github-token", "ghr" + "_", 36, MIXED), ("github-token", "github_" + "pat_", 82, MIXED),
        ("gitlab-token", "glpat" + "-", 20, MIXED), ("gitlab-token", "gldt" + "-", 20, MIXED), ("gitlab-token", "glrt" + "-", 20, MIXED),
        ("aws-key", "AKIA", 16, CAPITALS), ("aws-key", "ASIA", 16, CAPITALS), ("aws-key", "ABSK", 110, MIXED),
        ("google-key", "AIza", 35, MIXED), ("google-token", "ya29" + ".", 60, MIXED), ("google-token", "GOCSPX" + "-", 28, MIXED),
        ("slack-token", "xoxb" + "-123456789012-1234567890123-", 24, MIXED), ("slack-token", "xoxp" + "-12-34-", 32, HEX),
        ("slack-token", "xapp" + "-1-A012-123-", 64, HEX), ("stripe-key", "sk_" + "live_", 24, MIXED), ("stripe-key", "rk_" + "test_", 24, MIXED),
        ("stripe-key", "whsec" + "_", 32, MIXED), ("npm-token", "npm" + "_", 36, MIXED), ("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc", 120, MIXED),
        ("huggingface-token", "hf" + "_", 34, LETTERS), ("sendgrid-key", "SG" + "." + "a" * 22 + ".", 43, MIXED), ("twilio-key", "SK", 32, HEX),
        ("mailgun-key", "key" + "-", 32, HEX), ("digitalocean-token", "dop" + "_v1_", 64, HEX), ("shopify-token", "shpat" + "_", 32, HEX),
        ("square-token", "sq0" + "atp-", 22, MIXED), ("databricks-token", "dapi", 32, HEX), ("vault-token", "hvs" + ".", 90, MIXED),
        ("telegram-token", "123456789" + ":AA", 33, MIXED), ("atlassian-token", "ATATT3", 170, MIXED), ("alibaba-key", "LTAI", 20, MIXED),
        ("age-key", "AGE-SECRET-KEY" + "-1", 58, CAPITALS), ("azure-secret", "abc" + "8Q~", 34, MIXED), ("doppler-token", "dp" + ".pt.", 43, MIXED),
        ("facebook-token", "EAA", 120, MIXED), ("postman-key", "PMAK" + "-", 59, HEX), ("terraform-token", "a" * 14 + ".atlasv1.", 60, MIXED),
        *(("api-key", prefix, 40, MIXED) for prefix in (
            "nvapi-", "pplx-", "xai-", "tvly-", "NRAK-", "sntrys_", "glsa_", "lin_api_", "figd_", "gsk_", "r8_", "ntn_", "rubygems_",
            "dckr_pat_", "sbp_", "pscale_tkn_", "tskey-auth-", "phx_", "jina_", "CFPAT-", "HRKU-", "pcsk_", "lsv2_pt_", "nfp_", "fw_")),
    )

    def test_every_shape_is_hidden_whole(self) -> None:
        for number, (kind, prefix, length, alphabet) in enumerate(self.SHAPES):
            body = invent(alphabet, length, number)
            for text in (f"curl it with {prefix}{body} now", f'say "{prefix}{body}"', f"X={prefix}{body}", f"({prefix}{body})"):
                with self.subTest(prefix=prefix, text=text[:12]):
                    found, count = redact_text(text)
                    self.assertIn("[redacted:", found)
                    self.assertGreaterEqual(count, 1)
                    self.assertNotIn(body, found)
                    self.assertNotIn(body[-10:], found)
                    self.assertTrue(is_suspect(text), "the cheap test has to let the redactor load")
            self.assertIn(f"[redacted:{kind}]", redact_text(f"a {prefix}{body} b")[0])

    def test_every_row_of_the_table_has_a_lower_case_hint(self) -> None:
        for kind, hints, pattern in patterns.PATTERNS:
            self.assertEqual(hints, hints.lower(), kind)
            self.assertTrue(hints and pattern)


class Structures(unittest.TestCase):
    HIDDEN = (
        ("PASSWORD='quoted'", "quoted"), ('MY_TOKEN="value here"', "value here"), ('{"password": "value"}', '"value"'),
        ('{"password":"hunter2"}', "hunter2"), ('{\\"password\\": \\"hunter2\\"}', "hunter2"), ("deploy --password value", "value"),
        ("x --api-key=abc123def", "abc123def"), ("gh auth --with --token abcDEF123", "abcDEF123"), ("password=short", "short"),
        ("SECRET=abc", "abc"), ("pwd=123456", "123456"), ("postgres://u:pa/ss@host/db", "pa/ss"), ("postgres://u:p@ss@host/db", "p@ss"),
        ("redis://:pw@host:6379", "pw@"), ("postgresql+psycopg2://u:secretpw@h/d", "secretpw"),
        ("mongodb+srv://user:Pa55w0rd@cluster0.example.net/x", "Pa55w0rd"), ("Authorization: Bearer abc+def/ghi=jkl12345", "abc+def"),
        ("Authorization: Basic " + "dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNz"), ("password: hunter2", "hunter2"),
        ("  db_password: correcthorse\n", "correcthorse"), ("API_KEY = abc123def456", "abc123def456"), ("DB_PASSWORD=p@ss!w0rd#1&x", "&x"),
        ("client-secret: abcd-1234-efgh", "abcd-1234"), ("Server=db;User Id=sa;Password=Zyx!bar;", "Zyx!bar"),
        ("Server=db;Uid=sa;Pwd=Zyxbar;", "Zyxbar"), ("https://api.x.com/v1?access_token=abc123def456&x=1", "abc123def456"),
        ("<password>hunter2</password>", "hunter2"), ("secret_key = s3cr3t-v4lue!", "s3cr3t"), ("'password' => 'hunter2',", "hunter2"),
        ("X-Api-Key: 1234567890abcdef", "1234567890abcdef"), ("X_SIGNING=" + "k8JdP2mQ9zRt4VwXy7LnB3cFg6HsA1eU", "k8JdP2mQ"),
        ("curl -u admin:hunter2 https://x", "hunter2"), ("mysql -u root -phunter2 db", "hunter2"), ("docker login -u x -p hunter2 r", "hunter2"),
        ("<private>my mother's name</private> rest", "mother"), ("<private>never closed", "never closed"),
        ("//registry.example.org/:_authToken=" + "abcdef0123456789", "abcdef0123456789"), ("machine h login bob password hunter2", "hunter2"),
        ("the login uses password = 'hunter2-a'", "hunter2"),
        ("Cookie: sessionid=" + "abcdef0123456789abcdef", "abcdef0123456789"), ("sshpass -p hunter2 ssh x", "hunter2"),
        ("-password=hunter2", "hunter2"), ("PGPASSWORD=hunter2 psql", "hunter2"), ("token " + "abcdef0123456789abcdef0123456789abcdef01", "abcdef01"),
        ("https://hooks.slack.com/services/T000/B000/" + "XXXXabcd1234XXXX", "XXXXabcd"), ("password is `hunter2`", "hunter2"),
        ("eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxIn0.c2lnbmF0dXJl", "c2lnbmF0"),
        ("-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEabcd" + "x" * 60 + "\n-----END RSA " + "PRIVATE KEY-----", "MIIEabcd"),
        ('{"k": "-----BEGIN ' + 'PRIVATE KEY-----\\nMIIEabcd' + "x" * 60 + '"}', "MIIEabcd"), ("-----BEGIN EC " + "PRIVATE KEY-----", "BEGIN EC"),
        ("https://ghp" + "_abcdefghijklmnop1234567890@github.com/x", "abcdefgh"), ("https://" + "0123456789abcdef" * 2 + "@github.com/x", "0123"),
        ("http://a.example:8080/x,https://u:hunter2secret@h/", "hunter2secret"),
        ("https://u:ghp" + "_abcdefghijklmnop1234567890@h/x|postgres://u:hunter2@h/d", "hunter2"), ("ftp://u:pa://ss@h", "pa://ss"),
        ("DefaultEndpointsProtocol=https;AccountKey=" + "a7" * 43 + "==;Suffix=x", "a7a7"), ("?sv=2020&sig=" + "abcDEF123%2Babc456def789%3D&se=1", "abcDEF123"),
    )
    SPARED = (
        "re-implementation of the parser", "monkey: banana", "tokens: 1234567", "max_tokens: 4096", "key: value", "token: string",
        "const token = getToken()", "password: password", "commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
        "id 123e4567-e89b-12d3-a456-426614174000", "the password is required.", "keyboard: qwerty", "passed: 12 tests", "author: jane",
        "def login(user, password=None):", "token = self.token", "Bearer authentication scheme is used", "Basic understanding of things",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "/home/user/project/src/very/long/path/name_2/file.py",
        "cat /etc/passwd", "PWD=/home/user/x", "if (token == other)", "https://example.com:8080/@scope/pkg@1.2.3", "git@github.com:org/repo.git",
        "primary_key=True", "foreign_key: user_id", "key=lambda x: x[1]", "api_key=os.environ['X']", "password=${DB_PASSWORD}",
        "sk-spinner-three-bounce", "--no-password --token-file /x/y", "secret: true", "password: ****", "credentials: same-origin",
        '"integrity": "sha512-' + "abcDEF1234567890+/abcDEF1234567890ABCD" + '=="', "f(password=password, token=token)",
        "class Tokenizer:\n    token: Token\n", "import { password } from './password'",
    )

    def test_hidden(self) -> None:
        for text, secret in self.HIDDEN:
            with self.subTest(text[:60]):
                found, count = redact_text(text)
                self.assertNotIn(secret, found)
                self.assertGreaterEqual(count, 1)
                self.assertTrue(is_suspect(text), "the cheap test has to let the redactor load")

    def test_what_stands_in_another_line_or_is_said_in_words_reaches_the_redactor(self) -> None:
        secret = "hunter" + "22"
        for text in (f'the secret is "{secret}"', f"my token was `{secret}`", f"the api key '{secret}'", f"use passwd '{secret}'",
                     f"passphrase\n'{secret}'", f"curl \\\n-u admin:{secret} http://x", f"curl\t-u\tadmin:{secret}",
                     f"curl --proxy-user admin:{secret}", f"machine h login me\tpassword\t{secret}", f"mysql \\\n-p{secret} db",
                     f"sshpass\t-p\t{secret} ssh", "Authorization\tbearer\tabcd" + secret):
            with self.subTest(text):
                found, count = redact_text(text)
                self.assertNotIn(secret, found)
                self.assertGreaterEqual(count, 1)
                self.assertTrue(is_suspect(text), "the cheap test has to let the redactor load")

    def test_everyday_calls_do_not_load_the_redactor(self) -> None:
        """It costs half of a hook. As append_event asks: the label, then each member of the data."""
        for text in ("Bash curl -s https://example.org/api?x=1 | grep token tool: Bash bytes: 160 duration_ms: 26 outcome: ok",
                     "Read src/auth/session.py tool: Read file: src/auth/session.py", "the secret tool: Bash"):
            with self.subTest(text):
                self.assertFalse(is_suspect("main " + text))

    def test_a_token_that_happens_to_have_no_figure_reaches_the_redactor(self) -> None:
        body = "qwertzuiopasdfghjklyxcvbnmqwertzuiop"
        for prefix in ("ghp_", "gho_", "ghs_", "ghu_", "ghr_", "glpat-", "gldt-", "xoxb-", "xapp-1-", "whsec_", "hvs.", "ya29.", "GOCSPX-",
                       "hooks.slack.com/services/", "discord.com/api/webhooks/1/", "pypi-Ag", "eyJabcdefgh.eyJ", "shippo_live_"):
            with self.subTest(prefix):
                self.assertTrue(is_suspect(f"Bash echo {prefix}{body}") or not redact_text(f"Bash echo {prefix}{body}")[1])
        self.assertTrue(is_suspect("Bash echo AKIA" + body[:16].upper()))

    def test_whatever_the_table_hides_reaches_the_redactor(self) -> None:
        """Short bodies and bodies of letters alone too: no long word with figures gives those away."""
        prefixes = {hint for _, hints, _ in patterns.PATTERNS for hint in hints.split(" ")}
        prefixes |= {prefix.upper() for prefix in prefixes} | {prefix for _, prefix, _, _ in Providers.SHAPES}
        prefixes = {prefix for prefix in prefixes if not prefix.lower().startswith(("sg.", "dp."))}  # too long to be of letters alone
        prefixes |= {"sk_" + "live_", "rk_" + "test_", "pk_" + "prod_", "sk_org_" + "live_"}
        alphabets = (LETTERS.lower(), LETTERS, CAPITALS, MIXED, HEX)
        hidden = 0
        for number, (prefix, length) in enumerate(itertools.product(sorted(prefixes), (6, 8, 10, 11, 12, 13, 16, 20, 36))):
            before = ("", " ", "_", "-", "(", "x=", ".", "é", "a_")[number % 9]
            text = f"Bash echo {before}{prefix}{invent(alphabets[number % 5], length, number)} now"
            with self.subTest(text):
                suspect = is_suspect(f"main {text} source: hook tool: Bash bytes: 12 outcome: ok")
                hidden += suspect
                self.assertTrue(suspect or not redact_text(text)[1])
        self.assertGreater(hidden, 1000)

    def test_names_that_only_hold_a_mark_do_not_load_the_redactor(self) -> None:
        for name in ("store_root", "pre_tool_use", "feature_flags", "core_rules", "task_list", "desk-booking", "risk_model", "compare_re_old"):
            for text in (f"Read src/{name}.py", f"Bash rg -n '{name}' src", f"Edit src/{name}/main.ts"):
                with self.subTest(text):
                    self.assertFalse(is_suspect(f"main {text} source: hook tool: Bash bytes: 12 outcome: ok"))

    def test_spared(self) -> None:
        for text in self.SPARED:
            with self.subTest(text[:60]):
                self.assertEqual(redact_text(text), (text, 0))

    def test_letters_whose_other_case_is_not_their_own(self) -> None:
        self.assertEqual([chr(code) for code in range(0x110000) if len(chr(code).lower()) != 1], ["İ"])
        for text in ('İ {"Key": "API_TOKEN", "Value": "%s"}', "İ Authorization: Bearer %s", "PASSWORD IS İ or password is %s"):
            self.assertNotIn("aZ3kQ9vT7mLp2XwR8cYd", redact_text(text % "aZ3kQ9vT7mLp2XwR8cYd")[0], text)
        self.assertEqual(redact_text("Basic dXNlcjpwYXNzdſ"), ("Basic dXNlcjpwYXNzdſ", 0))  # base64 but for case

    def test_redacting_twice_changes_nothing(self) -> None:
        for text, _ in self.HIDDEN:
            once, _ = redact_text(text)
            self.assertEqual(redact_text(once), (once, 0), text)

    def test_members_go_by_their_key(self) -> None:
        data = {"user": "ada", "password": "plain words", "nested": {"list": [{"apiKey": "abc"}, {"max_tokens": 5, "token": None}]},
                "clientSecret": ["a", "b"], "secret": True}
        found, count = redact_data(data)
        self.assertEqual(found, {"user": "ada", "password": "[redacted:password]", "nested": {"list": [
            {"apiKey": "[redacted:api-key]"}, {"max_tokens": 5, "token": None}]},
            "clientSecret": ["[redacted:secret]"] * 2, "secret": True})
        self.assertEqual(count, 3)

    def test_label_is_redacted_before_it_is_cut(self) -> None:
        label = "x" * 490 + " ghp" + "_" + "a1b2c3d4e5" * 4
        found = label_of(label)
        self.assertLessEqual(len(found), 500)
        self.assertNotIn("a1b2", found)

    def test_depth_is_bounded(self) -> None:
        value: Any = "password=hunter2"
        for _ in range(200):
            value = [value]
        self.assertNotIn("hunter2", json.dumps(redact_data(value)[0]))

    def test_hostile_texts_take_linear_time(self) -> None:
        pieces = ("a", "=", "key", "://a:", "-----BEGIN RSA ", "eyJ", "eyJ-", "password=", "'", "--a ", "bearer ", "<private>", "mysql ",
                  "sk-", "xoxb-", "npm_", "cookie:", "key='", "ghp_", "login ", "<a>", "authorization:", "aA1", "-----BEGIN RSA " "PRIVATE KEY-----")
        for piece in pieces:
            text = piece * (60_000 // len(piece))  # quadratic work would take minutes
            began = time.process_time()
            redact_text(text)
            self.assertLess(time.process_time() - began, 10.0, piece)


class InTheLog(unittest.TestCase):
    def test_nothing_secret_reaches_the_disk_and_the_count_is_kept(self) -> None:
        token = "ghp" + "_" + "a1b2c3d4e5" * 4
        with tempfile.TemporaryDirectory() as root:
            append_event(root, "s", "main", "post-tool", f"Bash curl -H 'X: {token}'", {"said": token, "password": "hunter2", "n": 1})
            path = os.path.join(root, ".claude", "slipstream", "dashboard", "s.jsonl")
            with open(path, encoding="utf-8") as stream:
                raw = stream.read()
            self.assertNotIn("a1b2c3", raw)
            self.assertNotIn("hunter2", raw)
            event = read_events(root, "s")[0]
            self.assertEqual(event["data"]["redacted"], 3)
            self.assertEqual(event["data"]["n"], 1)

    def test_a_url_and_the_word_token_load_no_pattern(self) -> None:
        self.assertFalse(is_suspect("Bash curl https://example.com/items # then use the token again tool: Bash bytes: 12 outcome: ok"))


class CustomRules(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        os.makedirs(os.path.join(self.root, ".claude", "slipstream"))
        self.path = os.path.join(self.root, ".claude", "slipstream", "redact.json")

    def write(self, value: Any) -> None:
        with open(self.path, "w", encoding="utf-8") as stream:
            json.dump(value, stream)

    def test_own_patterns_apply_to_text_and_log(self) -> None:
        self.write({"patterns": [{"pattern": "PROJ-\\d+", "label": "ticket"}, {"pattern": "ada", "flags": "gi"}]})
        self.assertEqual(redact_text("see PROJ-12 by Ada", self.root), ("see [redacted:ticket] by [redacted:custom]", 2))
        append_event(self.root, "s", "main", "user-prompt", "do PROJ-7")
        self.assertEqual(read_events(self.root, "s")[0]["label"], "do [redacted:ticket]")

    def test_refused_with_the_reason(self) -> None:
        self.write({"patterns": [{"pattern": "(a+)+b"}, {"pattern": "(a)\\1"}, {"pattern": "("}, "x", {"pattern": "x*"}, {"pattern": "ok"},
                                 {"pattern": "(?:a{1,500}){1,500}b"}, {"pattern": ".*a.*b.*c"}]})
        rules, refused = check_rules(self.path)
        self.assertEqual(len(rules), 1)
        self.assertEqual(len(refused), 7)
        for line, reason in zip(refused, ("an unbounded repeat inside another", "a back-reference", "missing", "no text named pattern",
                                          "matches the empty text", "inside another", "more than two")):
            self.assertIn(reason, line)

    def test_ordinary_patterns_pass_the_check(self) -> None:
        for pattern in (r"ACME-[A-Z0-9]{10,}", r"(?:foo|bar)\d+", r"\bemp-\d{6}\b", r"(?<=id=)\w+", r"user:\s*\S+"):
            self.assertEqual(find_danger(pattern), "", pattern)

    def test_a_damaged_file_refuses_no_text(self) -> None:
        with open(self.path, "w", encoding="utf-8") as stream:
            stream.write("{nope")
        self.assertEqual(redact_text("plain", self.root), ("plain", 0))
        self.assertIn("not readable", check_rules(self.path)[1][0])

    def test_long_texts_are_cut_at_line_ends_and_lose_nothing(self) -> None:
        self.write({"patterns": [{"pattern": "PROJ-\\d+"}]})
        text = "a line with PROJ-1 inside\n" * 8000
        found, count = redact_text(text, self.root)
        self.assertEqual(count, 8000)
        self.assertEqual(found, text.replace("PROJ-1", "[redacted:custom]"))


if __name__ == "__main__":
    unittest.main()
