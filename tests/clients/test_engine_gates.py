"""The shipped gates that need a third-party program, once passing and once failing: npm, PostgreSQL, wrangler."""
from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import unittest

from slipstream.engine.gates import Evidence, run_gate
from slipstream.engine.library import load_library

from tests import ROOT
from tests.clients import skip

LIBRARY = load_library([("plugin", os.path.join(ROOT, "plugin", "skills"))])
TABLE = """create table invoices (id bigint generated always as identity primary key, owner uuid not null, total int not null default 0);
create table lines (id bigint generated always as identity primary key, invoice bigint not null references invoices (id));
create index on lines (invoice);
alter table invoices enable row level security;
alter table lines enable row level security;
"""


class Gates(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = os.path.realpath(temporary.name)

    def write(self, name: str, text: str) -> None:
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)

    def run_it(self, name: str, **given: str) -> Evidence:
        return run_gate(LIBRARY.get(name), self.root, given, os.path.join(self.root, "home"))

    def expect(self, evidence: Evidence, result: str, text: str = "") -> None:
        self.assertEqual(evidence.result, result, evidence.reason + "\n" + evidence.tail)
        self.assertIn(text, evidence.reason + "\n" + evidence.tail)

    def test_frontend_build(self) -> None:
        if not shutil.which("npm"):
            skip("npm", "no npm on the path")
        self.write("package.json", '{"private": true, "scripts": {"build": "node build.js"}}\n')
        self.write("build.js", 'console.log("built")\n')
        self.expect(self.run_it("frontend-vite-react"), "PASS", "built")
        self.write("build.js", 'throw new Error("type error in app.tsx")\n')
        self.expect(self.run_it("frontend-vite-react"), "FAIL", "type error in app.tsx")

    def test_worker_bundle(self) -> None:
        wrangler = os.environ.get("SLIPSTREAM_WRANGLER", "")
        if not wrangler:
            skip("wrangler", "not installed (SLIPSTREAM_WRANGLER names no program)")
        self.write("wrangler.jsonc", '{"name": "edge", "main": "src/index.ts", "compatibility_date": "2025-10-01"}\n')
        self.write("src/index.ts", 'export default { async fetch(): Promise<Response> { return new Response("hi"); } };\n')
        self.expect(self.run_it("cloudflare-worker", wrangler=wrangler), "PASS", "Total Upload")
        self.write("src/index.ts", 'import "./gone";\n')
        self.expect(self.run_it("cloudflare-worker", wrangler=wrangler), "FAIL", "gone")


class Database(Gates):
    """A PostgreSQL of the test's own, on a free loopback port, with the roles a hosted one has."""

    def setUp(self) -> None:
        super().setUp()
        programs = os.environ.get("SLIPSTREAM_POSTGRES", "")
        if not programs or not shutil.which("psql"):
            skip("postgres", "not installed (SLIPSTREAM_POSTGRES names no folder)")
        self.data = os.path.join(self.root, "pg")
        os.mkdir(self.data)
        self.as_user: dict[str, str] = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            os.chmod(self.root, 0o755)
            shutil.chown(self.data, "postgres")
            self.as_user = {"user": "postgres"}
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        self.control(os.path.join(programs, "initdb"), "-D", self.data, "-A", "trust", "-U", "postgres", "--no-sync")
        options = "-p %d -k %s -c listen_addresses=127.0.0.1 -c fsync=off" % (port, self.data)
        ctl = os.path.join(programs, "pg_ctl")
        self.control(ctl, "-D", self.data, "-o", options, "-l", os.path.join(self.data, "log"), "-w", "start")
        self.addCleanup(self.control, ctl, "-D", self.data, "-m", "immediate", "stop")
        self.db = "postgresql://postgres@127.0.0.1:%d/postgres" % port

    def control(self, *command: str) -> None:
        done = subprocess.run(command, cwd=self.data, capture_output=True, text=True, timeout=120, check=False,
                              **self.as_user)  # type: ignore[call-overload]
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def sql(self, text: str) -> None:
        subprocess.run(["psql", self.db, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", text], check=True, capture_output=True)

    test_frontend_build = test_worker_bundle = None  # type: ignore[assignment]

    def test_row_level_security(self) -> None:
        self.sql("create role anon; create role authenticated; grant usage on schema public to anon;" + TABLE
                 + "grant all on all tables in schema public to anon;")
        self.expect(self.run_it("supabase-rls", db=self.db, table="invoices"), "FAIL", "is empty, so a denied read proves nothing")
        self.sql("insert into invoices (owner) values (gen_random_uuid())")
        self.expect(self.run_it("supabase-rls", db=self.db, table="invoices"), "PASS", "rls: ok")
        self.sql("create policy everybody on invoices for select using (true)")
        self.expect(self.run_it("supabase-rls", db=self.db, table="invoices"), "FAIL", "role anon reads 1 rows")
        self.sql("drop policy everybody on invoices; create policy deletes on invoices for all using (true) with check (false)")
        self.expect(self.run_it("supabase-rls", db=self.db, table="invoices"), "FAIL", "role anon can delete")
        self.sql("drop policy deletes on invoices; alter table lines disable row level security")
        self.expect(self.run_it("supabase-rls", db=self.db, table="invoices"), "FAIL", "table public.lines has row level security off")
        self.sql("alter table lines enable row level security; revoke all on invoices from anon")
        self.expect(self.run_it("supabase-rls", db=self.db, table="invoices"), "PASS")
        self.expect(self.run_it("supabase-rls", db=self.db, table='a"; drop table invoices; --'), "FAIL", "not a plain identifier")

    def test_migrations(self) -> None:
        self.write("supabase/migrations/001_tables.sql", TABLE)
        self.expect(self.run_it("supabase-schema", db=self.db), "PASS", "migrations: ok (1 migration)")
        self.write("supabase/migrations/002_more.sql", "create table notes (body text, line bigint references lines (id));\n")
        evidence = self.run_it("supabase-schema", db=self.db)
        self.expect(evidence, "FAIL", "table notes has no primary key")
        self.expect(evidence, "FAIL", "foreign key notes_line_fkey of notes has no index")
        self.write("supabase/migrations/002_more.sql", "alter table gone add column x int;\n")
        self.expect(self.run_it("supabase-schema", db=self.db), "FAIL", "002_more.sql does not apply")
        left = subprocess.run(["psql", self.db, "-XAtc", "select count(*) from pg_database where datname like 'slipstream%'"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(left.stdout.strip(), "0", "the scratch database is dropped whatever happened")
        self.expect(self.run_it("supabase-schema", db="postgresql://db.example.com/x"), "FAIL", "must be a local server")


if __name__ == "__main__":
    unittest.main()
