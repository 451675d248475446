"""Secrets in the shapes of files, shells and tools: each is hidden whole, and each reaches the redactor from an event's label."""
from __future__ import annotations

import json
import unittest

from slipstream.events.append import is_suspect
from slipstream.events.redact import redact_data, redact_text

PW, WORD = "Tr0ub4" + "dor&3", "hunter2" + "hunter"
KEY, LONG = "aZ3kQ9vT7m" + "Lp2XwR8cYd", "Hq7Zt0LmNw4Px" + "K2rVbJc9dSfGy"
HEX = "9f86d081884c7d65" + "9a2feaa0c55ad015"
PEM = "PRIVATE" + " KEY-----"
DISCORD = "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs"

FILES = (
    ('{\n  "password":\n    "%s"\n}', PW), (json.dumps(json.dumps(json.dumps({"api_key": "%s"}))), KEY), ('"passwords": ["x1y2z3", "%s"]', PW),
    ('"tokens": ["%s", 1]', KEY), ("password: |\n  %s\nuser: x", PW), ("secret_key: >-\n  %s\n", KEY),
    ("env:\n  - name: DB_PASSWORD\n    value: %s\n", PW), ('[{"Key": "API_TOKEN", "Value": "%s"}]', KEY), ('<add key="ApiKey" value="%s" />', KEY),
    ('variable "db_password" {\n  type    = string\n  default = "%s"\n}', PW), ('db_password                = "%s"', PW), ("password: ab,cd%s", PW),
    ("define('DB_PASSWORD', '%s');", PW), ('setenv("API_TOKEN", "%s")', KEY), ('const apiKey: string = "%s"', KEY), ('api_key: str | None = "%s"', KEY),
    ('let token: &str = "%s";', KEY), ('const apiKey string = "%s"', KEY), ('char password[] = "%s";', PW), ('#define API_TOKEN "%s"', KEY),
    ("password '%s'", PW), ('{"said": "API_TOKEN \\"%s\\" is"}', KEY), ("CREATE USER b IDENTIFIED BY '%s';", PW), ("SET x = PASSWORD('%s')", PW), ("password：%s", WORD), ("password:\u00a0%s", WORD),
    ("password=\x1b[31m%s\x1b[0m", WORD), ("  -----BEGIN RSA " + PEM + "\n  MIIEpAIBAAKCAQEA\n  %s", LONG),
    ("     1→-----BEGIN RSA " + PEM + "\n     2→MIIEpAIBAAKCAQEA\n     3→%s", LONG), ("+-----BEGIN RSA " + PEM + "\n+MIIEpAIBAAKCAQEA\n+%s", LONG),
    ("-----BEGIN RSA " + PEM + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\n%s", LONG),
    ("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: x\n%s\n---- END SSH2 ENCRYPTED PRIVATE KEY ----", LONG),
    ("<private reason='x'>%s</private>", "my cat"),
)
COMMANDS = (
    ("set -gx DB_PASSWORD %s", PW), ("setenv API_TOKEN %s", KEY), ('setx API_TOKEN "%s"', KEY), ("setx DB_PASSWORD %s", "a1b2c3d"),
    ("aws configure set aws_secret_access_key %s", "wJalrXUtnFEMI/" + "K7MDENG/bPxRfiCYzz"), ('ConvertTo-SecureString "%s" -AsPlainText', PW),
    ("curl -su bob:%s https://x", WORD), ("curl -sSfu bob:%s https://x", PW), ("curl -u bob:%s https://x", "ab12:cd34"), ("http -a bob:%s x.y", WORD), ("http --auth=bob:%s x.y", WORD),
    ("curl -b 'session=%s' x", KEY), ("docker login -u bob -p%s r.io", WORD), ("helm registry login -u b -p %s r.io", WORD),
    ("mysql -u root -p'%s' db", PW), ("redis-cli -h x -a %s ping", WORD), ("sshpass -p%s ssh x", WORD), ("ldapsearch -D cn=a -w %s", WORD),
    ("openssl rsa -passin pass:%s", WORD), ("az login --service-principal -u a -p %s", KEY), ("sqlplus bob/%s@db", WORD),
    ("jdbc:oracle:thin:bob/%s@h:1521/x", WORD), ("root:%s@tcp(127.0.0.1:3306)/db", WORD), ("the password is %s", WORD),
)
HEADERS = (
    ("Authorization: Splunk %s", HEX), ("Authorization: SSWS 00%s", LONG), ("Authorization: Key %s", KEY),
    ('Authorization: Digest username="bob", uri="/", response="%s"', HEX), ("https://b.s3/x?X-Amz-Signature=%s", HEX + HEX),
    ("https://discord.com/api/v10/webhooks/123456789012345678/%s", KEY + LONG), ("client.login('%s') // discord", DISCORD),
    ("https://x.webhook.office.com/webhookb2/a/IncomingWebhook/%s/b", HEX), ("GR1348941%s", KEY), ("bedrock-api-key-%s", KEY + LONG),
    ("sk_org_" + "live_%s", KEY), ("xkeysib-%s", HEX + HEX), ("sha256~%s", LONG + KEY), ("re_aZ3kQ9vT_%s", KEY), ("key_%s", HEX + HEX),
    ("sk.eyJ1IjoiYm9iIiwi." + "%s", KEY), ("Authorization: %s Authorization: y", KEY), ("Authorization: %s and more words", KEY),
)
SPARED = (
    "'password' => ['required', 'string', 'max:10'],", '"the JWT for": "Wofür ist das JWT",\n"mqtt 5": "Pfad 5",', 'tokens: ["foo", "bar2"]',
    "docker run -u 1000:1000 image", "$name = password('What is the password?')", "the password is required", "the password is sha256 hashed",
    'switch (x) { case "client.public_key", "client.public_key_der_base64": }', "- name: API_TOKEN\n  valueFrom:\n    x: y\n- name: LEVEL\n  value: a1b2",
    "set password length to 12", '<input name="password" value="">', "type Key = string;", "password: |\n  the text of a hint", "tar -xzpf a.tar",
    "Authorization: Using the header", 'variable "key" {\n  default = "a1"\n}', "f(password: string, other: Map<string, int>)",
    'so no "$PWD " prefix is put before it', 'echo $TOKEN "is the 2nd one"', 'Set the variable API_KEY "your key goes here"',
    "rsync -avu host:backups/x1 y", "python -vu script:main1", "token：见下文第3节", 'each row is identified by "user 17" here',
)


class Shapes(unittest.TestCase):
    def test_hidden_whole(self) -> None:
        for form, secret in (*FILES, *COMMANDS, *HEADERS):
            text = form % secret
            with self.subTest(text):
                found, count = redact_text(text)
                self.assertNotIn(secret, found)
                self.assertNotIn(secret[-6:], found)
                self.assertGreaterEqual(count, 1)
                self.assertEqual(redact_text(found), (found, 0))
                self.assertTrue(is_suspect("Bash " + text), "the cheap test has to let the redactor load")

    def test_spared(self) -> None:
        for text in SPARED:
            with self.subTest(text):
                self.assertEqual(redact_text(text), (text, 0))

    def test_the_member_beside_a_name_keeps_its_own(self) -> None:
        found = redact_text('[{"name": "DB_PASSWORD", "value": "%s"}]' % PW)[0]
        self.assertEqual(found, '[{"name": "DB_PASSWORD", "value": "[redacted:password]"}]')

    def test_members_that_only_hold_a_value(self) -> None:
        for value in ({"name": "DB_PASSWORD", "value": PW}, {"secret": {"value": WORD}}, {"env": [{"Key": "API_TOKEN", "Value": KEY}]}):
            with self.subTest(str(value)):
                found, count = redact_data(value)
                self.assertEqual(count, 1)
                self.assertTrue(not any(secret in json.dumps(found) for secret in (PW, WORD, KEY)))
        self.assertEqual(redact_data({"name": "level", "value": "a1b2c3"}), ({"name": "level", "value": "a1b2c3"}, 0))


if __name__ == "__main__":
    unittest.main()
