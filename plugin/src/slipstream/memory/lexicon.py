"""Words that developers use for one another: abbreviations and near synonyms, asked for at a low weight. Data."""
from __future__ import annotations

from slipstream.base.text import stem

# One group a line. Every word of a group is asked for when another of it is in the query.
_GROUPS = """
db database sql sqlite postgres
auth authentication authorization login signin credential
config configuration setting option preference
err error exception failure fault
perf performance slow latency speed fast
repo repository
dir directory folder
doc documentation readme
env environment
arg argument parameter param
func function method def
msg message
async asynchronous concurrent
dep dependency package library
ui interface frontend
api endpoint route
cli command terminal
deploy deployment release ship rollout
test spec unittest
bug defect issue
fix repair resolve
remove delete drop
create add make new
update change modify edit
fetch get retrieve download load
store save persist write
parse read decode
k8s kubernetes
ci pipeline workflow
timeout expire deadline
retry backoff attempt
cache memoize
lock mutex race deadlock
mem memory ram leak
queue job worker task
log logging trace
secret token key password
encrypt crypto cipher
user account member
str string text
num number integer int
dict dictionary map mapping
list array sequence
img image picture
pic photo image
auth oauth jwt
rls policy security
http request url
json serialize
regex pattern regexp
date time timestamp
begin start launch
end stop finish
check validate verify
convert transform cast
split separate
merge join combine concatenate
sort order rank
count number total
copy duplicate clone
""".strip().split("\n")


def _build() -> dict[str, tuple[str, ...]]:
    table: dict[str, dict[str, None]] = {}
    for row in _GROUPS:
        group = [stem(word) for word in row.split()]
        for word in group:
            table.setdefault(word, {}).update(dict.fromkeys(other for other in group if other != word))
    return {word: tuple(others) for word, others in table.items()}


SYNONYMS = _build()
