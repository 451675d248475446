"""Words that developers use for one another: abbreviations and near synonyms, asked for at a low weight. Data."""
from __future__ import annotations

from slipstream.base.text import stem

# One group a line. Every word of a group is asked for when another of it is in the query.
_GROUPS = """
db database sql sqlite postgres
auth authentication authorization login signin credential oauth jwt
config configuration setting option preference
err error exception failure fault crash
perf performance slow latency speed fast
repo repository codebase
code codebase source
design architecture
dir directory folder path
file filename path
doc documentation docstring readme
env environment
arg argument parameter param kwargs
func function method callable
msg message
thread concurrent concurrency async asynchronous parallel
dep dependency package library
ui interface frontend
app application
api endpoint route
cli command terminal shell
deploy deployment release ship rollout
spec unittest
bug defect issue problem
fix repair resolve
remove delete drop strip discard lost loss
create build generate new
update modify change edit
fetch get retrieve return obtain download
save dump store persist write
open load read
parse decode
encode encrypt
convert transform cast
check test validate verify
find search lookup locate
print display show output
count number length len size num total
max maximum largest highest
min minimum smallest lowest
join concatenate combine merge append
int integer
float double decimal
number numeric int float
string str text
char character
list array sequence
dict dictionary map mapping hash
col column field
row line record
date datetime day time timestamp epoch
average mean avg
img image picture
random rand
empty blank none null clear reset
duplicate copy clone
unique distinct
plot draw figure graph chart
lower lowercase
upper uppercase
matrix array numpy ndarray
current now today
element item entry
reverse invert
equal compare same
iterate loop iterator
index position
http url link request
split separate tokenize
sort order rank
replace substitute
round truncate
sum add total
begin start launch run execute startup
end stop finish kill terminate shutdown
wait sleep delay
timeout expire deadline
retry backoff attempt
cache memoize
lock mutex race deadlock
mem memory ram leak
queue job worker task
log logger logging trace
secret token key password
rls policy security
user account member
k8s kubernetes
ci pipeline workflow
regex regexp pattern match
json serialize
bool boolean
first head
last tail
tuple pair
object instance
nested recursive recursion
binary bytes byte
zip archive compress
""".strip().split("\n")


def _build() -> dict[str, tuple[str, ...]]:
    table: dict[str, dict[str, None]] = {}
    for row in _GROUPS:
        group = [stem(word) for word in row.split()]
        for word in group:
            table.setdefault(word, {}).update(dict.fromkeys(other for other in group if other != word))
    return {word: tuple(others) for word, others in table.items()}


SYNONYMS = _build()
