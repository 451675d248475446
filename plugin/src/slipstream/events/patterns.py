"""What credentials look like: one row a shape, data for redact.py. Invented examples live in the tests, none here."""
from __future__ import annotations

# (kind, hints, pattern). A row's pattern is compiled only when one of its hints, lower case, occurs in the text. Group 1,
# where there is one, is the secret; else the whole match is. Bodies are bounded below so that prose and identifiers pass.
_B = r"(?<![A-Za-z0-9])"


def _word(start: str) -> str:
    """As _B before a text of common letters: what begins with the text itself is looked for as fast as the text."""
    return f"{start}(?<![A-Za-z0-9]{start})"


_DIGIT = r"(?=[A-Za-z_-]{0,60}\d)"
PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("private", "<private", r"(?is)<private(?:\s[^<>]{0,200})?>.*?(?:</private\s*>|\Z)"),
    ("private-key", "begin", r"-----? ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
     r"(?:(?:(?!-{4,5} ?BEGIN)[\s\S]){0,20000}?-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
     # cut off: its lines, indented, numbered or quoted as a listing or a diff shows them
     r"|(?:(?:\\[rn]|[\r\n])[ \t]{0,40}(?:\d{1,6}[\t→:|]|[+>|])?[ \t]{0,40}"
     r"(?:(?:Proc-Type|DEK-Info|Comment|Version|Hash):[^\r\n]{0,100}|[A-Za-z0-9+/=]{8,})?)*)"),
    ("private-key", "putty-user-key-file", r"(?s)PuTTY-User-Key-File-\d:.{0,20000}?Private-MAC: *[0-9a-f]+"),
    ("jwt", "eyj", r"(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){0,2}"
     r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,})"),
    ("anthropic-key", "sk-ant-", _B + r"sk-ant-[A-Za-z0-9_-]{10,}"),
    ("openai-key", "sk-", _word("sk-") + r"(?:proj-|svcacct-|admin-|or-v1-|lf-)" + _DIGIT + r"[A-Za-z0-9_-]{10,}"),
    ("openai-key", "sk-", _word("sk-") + _DIGIT + r"[A-Za-z0-9_-]{16,}"),
    ("stripe-key", "sk_ rk_ pk_", _B + r"[spr]k_(?:org_)?(?:live|test|prod)_[A-Za-z0-9]{8,}"),
    ("stripe-key", "whsec_", _B + r"whsec_[A-Za-z0-9+/=]{16,}"),
    ("api-key", "sk_ pk_ rk_ ak_ sk- pk- rk- ak- re_",
     r"[spra](?<![A-Za-z0-9].)(?:k[_-]|(?<=r)e_)(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{10,}(?:_[A-Za-z0-9]{8,})*"),
    ("api-key", "re_", _word("re_") + r"(?=[A-Za-z_]{0,60}\d)[A-Za-z0-9]{6,9}_[A-Za-z0-9]{16,}"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", _B + r"gh[pousr]_[A-Za-z0-9_]{16,}(?:\.[A-Za-z0-9_-]{10,}){0,2}"),
    ("github-token", "github_pat_", _B + r"github_pat_[A-Za-z0-9_]{16,}"),
    ("gitlab-token", "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-",
     _B + r"gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_.-]{16,}"),
    ("aws-key", "akia asia abia acca aroa aida", _B + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("gitlab-token", "gr1348941", _B + r"GR1348941[A-Za-z0-9_-]{16,}"),
    ("aws-key", "bedrock-api-key-", _B + r"bedrock-api-key-[A-Za-z0-9+/=]{24,}"),
    ("aws-signature", "signature=", r"(?i)\bsignature=([0-9a-f]{64})(?![0-9a-f])"),
    ("aws-key", "absk", _B + r"ABSK[A-Za-z0-9+/]{40,}={0,2}"),
    ("google-key", "aiza", _B + r"AIza[A-Za-z0-9_-]{30,45}"),
    ("google-token", "ya29. gocspx- 1//0",
     _B + r"(?:ya29\.[A-Za-z0-9_.-]{16,}|GOCSPX-[A-Za-z0-9_-]{16,}|1//0[A-Za-z0-9_-]{24,})"),
    ("azure-secret", "sig=", r"(?i)[?&;]sig=([A-Za-z0-9%+/_=-]{20,})"),
    ("azure-secret", "7q~ 8q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{30,36}"),
    ("azure-secret", "jqqj99 azdo acdb", _B + r"[A-Za-z0-9]{40,80}(?:JQQJ99|AZDO)[A-Za-z0-9]{4,60}"),
    ("slack-token", "xox", _B + r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}"),
    ("slack-token", "xapp-", _B + r"xapp-\d-[A-Za-z0-9-]{8,}"),
    ("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{16,})"),
    ("discord-webhook", "/webhooks/", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/([A-Za-z0-9_-]{16,})"),
    ("discord-token", "discord bot login(",
     r"[MNO](?<![\w.-].)[A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{25,40}(?![\w.-])"),
    ("teams-webhook", "incomingwebhook/", r"/IncomingWebhook/([0-9A-Za-z]{24,})"),
    ("npm-token", "npm_", _word("npm_") + _DIGIT + r"[A-Za-z0-9]{20,}"),
    ("pypi-token", "pypi-ag", _B + r"pypi-Ag[A-Za-z0-9_-]{14,}"),
    ("huggingface-token", "hf_ api_org_", _B + r"(?:hf|api_org)_(?=[a-z_]{0,60}[A-Z0-9])[A-Za-z0-9]{16,}"),
    ("sendgrid-key", "sg.", _word(r"SG\.") + r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("twilio-key", "sk", _word("SK") + r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("mailgun-key", "key-", _word("key-") + r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("mailchimp-key", "-us", _B + r"[0-9a-f]{32}-us\d{1,2}(?![0-9A-Za-z])"),
    ("digitalocean-token", "_v1_", _B + r"do[oprt]_v1_[a-f0-9]{32,}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptk_ shpua_", _B + r"shp(?:at|ca|pa|ss|tk|ua)_[A-Fa-f0-9]{24,}"),
    ("square-token", "sq0", _B + r"sq0[a-z]{3}-[A-Za-z0-9_-]{20,}"),
    ("databricks-token", "dapi", _B + r"dapi[a-f0-9]{32}(?:-\d)?"),
    ("telegram-token", ":aa", r"(?<![A-Za-z0-9])\d{8,10}:AA[A-Za-z0-9_-]{30,}"),
    ("terraform-token", ".atlasv1.", _B + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),
    ("vault-token", "hvs. hvb. hvr.", _B + r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    ("doppler-token", "dp.", _word(r"dp\.") + r"(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{32,}"),
    ("age-key", "age-secret-key-", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
    ("atlassian-token", "atatt3 atctt3 atbb", _B + r"(?:ATATT3|ATCTT3|ATBB)[A-Za-z0-9_=-]{20,}"),
    ("postman-key", "pmak-", _B + r"PMAK-[A-Za-z0-9-]{24,}"),
    ("facebook-token", "eaa", _word("EAA") + r"[A-Za-z0-9]{60,}"),
    ("dropbox-token", "sl.", _word(r"sl\.") + r"(?:u\.)?[A-Za-z0-9_-]{100,}"),
    ("airtable-token", "pat", _word("pat") + r"[A-Za-z0-9]{14}\.[a-f0-9]{40,}"),
    ("mapbox-token", ".eyj", _B + r"[st]k\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{12,}"),
    ("cloudflare-key", "v1.0-", _B + r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("brevo-key", "xkeysib- xsmtpsib-", _B + r"x(?:key|smtp)sib-[0-9a-f]{40,}(?:-[A-Za-z0-9]+)?"),
    ("openshift-token", "sha256~", _B + r"sha256~[A-Za-z0-9_-]{40,}"),
    ("api-key", "akid y0_ aqvn ezak eztk p8e- key_",
     _B + r"(?:AKID(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{32}|y0_[A-Za-z0-9_-]{50,}|AQVN(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{35,}"
     r"|EZ[AT]K(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{54}|p8e-(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{32}|key_[0-9a-f]{40,})(?![A-Za-z0-9])"),
    ("bitbucket-token", "bbdc-", _B + r"BBDC-[A-Za-z0-9+/]{20,}"),
    ("alibaba-key", "ltai", _B + r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])"),
    ("api-key", "nvapi- pplx- xai- tvly- nrak- pul- tskey- hrku- cfpat- sntrys_ sntryu_ glsa_ glc_ lin_api_ figd_ gsk_"
     " r8_ ntn_"
     " secret_ rubygems_ dckr_pat_ dckr_oat_ sbp_ sb_secret_ pscale_ lsv2_ pcsk_ phx_ nfp_ fo1_ ops_ey ccipat_ rnd_ sqa_ "
     "sqp_ squ_"
     " duffel_ shippo_ flwseck aio_ rdme_ tfp_ pnu_ ico- akcp fw_ jina_ cfut_ cfat_ vcp_ e2b_ rpa_ bkua_ snyk_ flyv1 "
     "fm1_ fm2_", _B +
     r"(?:nvapi-|pplx-|xai-|tvly-(?:dev-|prod-)?|NRAK-|pul-|tskey-[a-z]+-|HRKU-|CFPAT-|sntry[su]_|glsa_|glc_|lin_api_|figd_"
     r"|gsk_|r8_|ntn_|secret_|rubygems_|dckr_[po]at_|sbp_|sb_secret_|pscale_(?:tkn|pw|oauth)_|lsv2_(?:pt|sk)_|pcsk_|phx_|nfp_|fo1_"
     r"|ops_ey|CCIPAT_|rnd_|sq[apu]_|duffel_(?:test|live)_|shippo_(?:test|live)_|FLWSECK(?:_TEST)?-|aio_|rdme_|tfp_|pnu_|ico-|AKCp"
     r"|fw_|jina_|cf[ua]t_|vcp_|e2b_|rpa_|bkua_|snyk_|FlyV1 |fm[12]_)"
     r"(?=[A-Za-z_=/+-]{0,60}\d)(?=[0-9a-z_=/+-]{0,60}[A-Z]|[0-9a-f]{30})"
     r"[A-Za-z0-9_=/+-]{18,}"),
)

# Credentials in an address: scheme://user:password@host. The password may hold / and @; the last @ before white space ends it,
# or before another address.
URL_PASSWORD = (r"://(?<=[A-Za-z0-9+.-]{2}://)([^\s\"'<>@/:`]{0,200}):((?:(?!://)[^\s\"'<>`]){1,500}|[^\s\"'<>`]{1,500})"
                r"@(?=[\w\[\]{}$%.-])")
URL_TOKEN = r"(?i)://(?:(?<=\bhttp://)|(?<=\bhttps://))([a-z0-9_-]{20,})@(?=[\w-])"
BEARER = r"(?i)\bbearer[ \t]+([a-z0-9._~+/=-]{12,})"
BASIC = r"(?i)\bbasic[ \t]+([a-z0-9+/_-]{8,}={0,2})(?![a-z0-9+/=])"
AUTHORIZATION = (r"(?i)\bauthorization[\"'\\]{0,3}\s{0,2}[:=]\s{0,2}[\"'\\]{0,3}"
                 r"(?:(?:bearer|basic|token|digest|apikey|negotiate|bot)[ \t]+)?([^\s\"'\\,;<>{}$()]{6,})")
OTHER_SCHEME = r"(?i)\bauthorization[\"'\\]{0,3}\s{0,2}[:=]\s{0,2}[\"'\\]{0,3}[a-z][\w-]{1,24}[ \t]+([^\s\"'\\,;<>{}$()]{6,})"
DIGEST = r"(?i)\bdigest\b[^\r\n]{0,600}?\bresponse=\\?[\"']?([0-9a-f]{32,})"
COOKIE = r"(?i)\bcookie[\"'\\]{0,3}:[ \t\"'\\]{0,4}([^\r\n\"'\\]{1,1000})"
# letters before the u are curl's: other tools mean an archive or an update, of a host's folder
_USER = r"[ \t=]{0,4}[\"']?([^\s\"':/]{1,100}):([^\s\"'/]{3,200})"
CURL_USER = r"-(?<!\S-)(?:u|-user|-proxy-user|(?<=http -)a|(?<=https -)a|-auth)" + _USER
CURL_LETTERS = r"curl(?<=\bcurl)\b[^\n|;]{0,300}?\s-[a-zA-Z]{1,5}u" + _USER
CURL_COOKIE = r"\s(?:-b|--cookie)[ \t=]{0,4}[\"']?([\w.-]{1,60}=[^\s\"']{8,1000})"
# -pPASSWORD without a blank, and the tools whose flag is another letter
ATTACHED_PASSWORD = (r"\b(?:mysql(?:dump|admin|show|import)?|sshpass|(?:docker|podman|registry|az|cf|oc) login)\b"
                     r"[^\n|;&]{0,300}?\s-p[\"']?([^\s'\"-][^\s'\"]{2,100})")
TOOL_PASSWORD = (r"(?:\bredis-cli\b[^\n|;&]{0,300}?\s-a|\bldap(?:search|add|modify|whoami|passwd|delete)\b[^\n|;&]{0,300}?\s-w"
                 r"|-pass(?:in|out)[ \t=]+pass:)[ \t]{0,4}[\"']?([^\s'\"-][^\s'\"]{2,100})")
SLASHED_PASSWORD = (r"(?i)(?:jdbc:oracle:thin:|\bsqlplus\s(?:-\w+\s+){0,4})[\w.$#-]{1,60}/([^\s\"'@/]{3,100})@"
                    r"|(?<![\w.\[-])[\w.$-]{1,60}:([^\s\"'@:/\[]{3,100})@(?:tcp|unix)\(")
SQL_PASSWORD = (r"(?i)(?<!is )(?<!are )(?<!be )(?<!ly )\bidentified\s+(?:with\s+[\w\"'`]{1,60}\s+)?by\s+(?:password\s+)?"
                r"(?:'([^'\n]{3,200})'|\"([^\"\n]{3,200})\")|\b(?-i:PASSWORD)\s?\(\s?'([^'\n]{3,200})'\s?\)|\bSecureString\s+(?:-String\s+)?[\"']([^\"'\n]{3,200})[\"']")
# `set [-x] NAME VALUE` of shells and of tools that keep settings
SET_COMMAND = (r"(?i)(?<![\w.-])(?:set|setx|setenv)(?:[ \t]+-[\w-]{1,20}){0,3}[ \t]+[\"']?"
               r"(?=[^\s=]{0,80}(?:pass|pwd|secret|token|key))([\w./:@-]{3,100})[\"']?[ \t]+[\"']?([^\s\"'=:-][^\s\"']{3,500})")
# A member that names a value and the member that holds it: of JSON, YAML, XML, and of Terraform's variables
NAMED_VALUE = (r"(?i)(?<![\w-])(?:(?:name|key)[\"'\\]{0,4}\s{0,4}[:=]|variable)\s{0,4}[\"'\\]{0,4}"
               r"([a-z_][\w.-]{2,80})[\"'\\]{0,4}[\s,{]{1,40}"
               r"(?:(?!(?:name|key|variable)[\"'\\]{0,4}\s{0,4}[:=\"])[^{}]){0,120}?(?<![\w-])(?:value|default)[\"'\\]{0,4}\s{0,4}[:=]\s{0,4}")
NETRC = r"(?i)\blogin\s+[^\s]{1,100}\s+password\s+(?![=:]\s)([^\s]{1,200})"
MARKUP = r"(?i)<([a-z][\w.:-]{0,40})>([^<>\s]{3,300})</\1>"
SPOKEN = (r"(?i)\b(?:password|passwd|passphrase|secret|token|api[ _-]?key)(?: is| was|:)?\s+"
          r"(?:([`\"'])([^`\"'\s]{4,100})\1|([a-z0-9+/_=-]{20,200})(?![\w./-]))")
SPOKEN_PASSWORD = (r"(?i)\bpass(?:word|wd|phrase|code) (?:is|was)[ \t]+(?=[^\s]{0,60}\d)(?=[^\s]{0,60}[a-z])"
                   r"(?!(?:sha|md|base|utf|pbkdf|argon|aes|rsa|v|bcrypt|scrypt|rfc)-?\d|[\d,.-]+[a-z]{0,2}\b|`|\"|')([^\s\"'`(){}<>,;]{5,100})")
CONNECTION = (r"(?i)[;\"'](?:password|pwd|accountkey|sharedaccesskey|sharedaccesssignature|sharedsecret)"
              r"\s?=\s?([^;\"'\s]{1,500})")

# Names whose value is a secret. The last word of a name decides, after qualifiers such as `_prod` are taken off.
SECRET_WORDS = {word: kind for kind, words in {
    "password": "password passwd pwd passphrase passcode passwrd pass pw userpassword userpass dbpassword",
    "token": "token authtoken accesstoken refreshtoken sessiontoken apitoken jwt",
    "secret": "secret apisecret secretkey accesskey authkey clientsecret accountkey "
              "encryptionkey signingkey",
    "api-key": "apikey", "private-key": "privatekey", "connection-string": "dsn",
}.items() for word in words.split()}
KEY_OWNERS = frozenset("""api access secret private auth encryption encrypt signing sign master service account app application
    license licence shared client deploy hmac session ssh admin subscription webhook function crypto aes jwt
    instrumentation consumer""".split())
QUALIFIERS = frozenset("""prod production dev development test testing staging stage live sandbox base old new primary secondary
    current value val default string str text plain raw env v1 v2 v3 1 2 3 b64 base64 hex""".split())
# Words that only speak of secrets: a value made of them alone is a field's name or a placeholder, not a secret.
TALK = frozenset("""password passwd pwd passphrase passcode pass pw token tokens secret secrets key keys apikey api auth access
    private public user username name your my our the a an new old current confirm confirmation enter field input invalid
    required missing reset forgot change changed update updated verify refresh csrf xsrf bearer basic id client app application
    session cookie credential credentials here example sample placeholder insert replace foo bar baz env string text type hash
    hashed plain jwt oauth oauth2 x y z to do todo none null nil undefined true false default unknown optional self this it is
    not has with of for in and or must be get set bot db database admin root login signin remember email github gitlab google
    aws azure npm webhook signing signature header changeme redacted masked hidden dummy fake mock bool boolean int integer
    number object any str bytes void char list dict array map option result promise never float double long var let
    const""".split())
