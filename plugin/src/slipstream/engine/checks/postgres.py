"""Checks in a real PostgreSQL through psql: row level security denies, migrations apply from nothing."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
from urllib.parse import urlsplit, urlunsplit

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError, UsageError

PSQL_LIMIT_S = 120.0
_IDENTIFIER = re.compile(r"^[A-Za-z_][A-Za-z0-9_$]*$")
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", "", None)


def run_psql(db: str, *arguments: str) -> tuple[bool, str]:
    """(succeeded, output) of psql, stopping at the first error, without the user's psqlrc."""
    program = shutil.which("psql")
    if not program:
        raise SlipstreamError("psql is not installed")
    env = {**os.environ, "PGCONNECT_TIMEOUT": "10", "PGOPTIONS": "-c client_min_messages=warning"}
    try:
        done = subprocess.run([program, db, "-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", *arguments],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
                              timeout=PSQL_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise SlipstreamError("psql did not finish within %d s" % PSQL_LIMIT_S) from None
    return done.returncode == 0, done.stdout.decode("utf-8", "replace").strip()


def _identifier(text: str, what: str) -> str:
    if not _IDENTIFIER.match(text):
        raise UsageError("%s `%s` is not a plain identifier" % (what, text))
    return '"%s"' % text


def check_rls(db: str = "", table: str = "", role: str = "anon", schema: str = "public") -> tuple[list[str], str]:
    """Every table of the schema has row level security; `role` sees none of `table`'s rows, and there are rows to see."""
    place = "%s.%s" % (_identifier(schema, "schema"), _identifier(table, "table"))
    problems: list[str] = []
    ok, out = run_psql(db, "-c", "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace "
                       "where n.nspname = '%s' and c.relkind in ('r', 'p') and not c.relrowsecurity order by 1" % schema)
    if not ok:
        raise SlipstreamError("psql: %s" % out)
    problems += ["table %s.%s has row level security off" % (schema, name) for name in out.split("\n") if name]
    ok, out = run_psql(db, "-c", "select count(*) from %s" % place)
    if not ok:
        raise SlipstreamError("psql: %s" % out)
    if out == "0":
        problems.append("%s is empty, so a denied read proves nothing: seed a row first" % place)
        return problems, place
    ok, out = run_psql(db, "-c", "begin", "-c", "set local role %s" % _identifier(role, "role"),
                       "-c", "select count(*) from %s" % place)
    if not ok and "permission denied" not in out:
        raise SlipstreamError("psql: %s" % out)
    if ok and out != "0":
        problems.append("role %s reads %s rows of %s" % (role, out, place))
    for verb, statement in (("delete", "delete from %s" % place), ("insert into", "insert into %s default values" % place)):
        ok, out = run_psql(db, "-c", "begin", "-c", "set local role %s" % _identifier(role, "role"),
                           "-c", "with done as (%s returning 1) select count(*) from done" % statement)
        if ok and out != "0":
            problems.append("role %s can %s %s" % (role, verb, place))
    return problems, "%s as %s" % (place, role)


def check_migrations(db: str = "", dir: str = "supabase/migrations") -> tuple[list[str], str]:
    """Apply every .sql file in name order to a new, empty database on a local server, then inspect it and drop it."""
    parts = urlsplit(db)
    if parts.hostname not in LOCAL_HOSTS:
        raise UsageError("--db must be a local server: a scratch database is created and dropped there")
    try:
        files = sorted(name for name in os.listdir(dir) if name.endswith(".sql"))
    except OSError:
        raise SlipstreamError("no such folder", dir) from None
    if not files:
        raise SlipstreamError("holds no .sql file", dir)
    scratch = "slipstream_check_%s" % os.urandom(6).hex()
    ok, out = run_psql(db, "-c", 'create database "%s" template template0' % scratch)
    if not ok:
        raise SlipstreamError("psql: %s" % out)
    target = urlunsplit(parts._replace(path="/" + scratch))
    try:
        for name in files:
            ok, out = run_psql(target, "--single-transaction", "-f", os.path.join(dir, name))
            if not ok:
                return ["%s does not apply: %s" % (name, out.replace("\n", " | "))], count_of(len(files), "migration")
        return _schema_problems(target), count_of(len(files), "migration")
    finally:
        run_psql(db, "-c", 'drop database if exists "%s" with (force)' % scratch)


def _schema_problems(db: str) -> list[str]:
    _ok, out = run_psql(db, "-c", (
        "select 'table ' || c.oid::regclass || ' has no primary key' from pg_class c "
        "join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and n.nspname = 'public' "
        "and not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p') "
        "union all select 'foreign key ' || k.conname || ' of ' || k.conrelid::regclass || ' has no index' "
        "from pg_constraint k where k.contype = 'f' and k.connamespace = 'public'::regnamespace and not exists ("
        "select from pg_index i where i.indrelid = k.conrelid and i.indpred is null "
        "and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey) "
        "union all select 'the migrations make no table in public' where not exists (select from pg_class c "
        "join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and n.nspname = 'public')"))
    return [line for line in out.split("\n") if line]
