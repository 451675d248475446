"""slipstream's launcher, the pyz's __main__.py. HOT. In a checkout its name hides the package's. Any Python 2.7+ parses it."""
import os
import sys

VERBS = {"cli.mapping": "map mindmap status", "cli.query": "slice lines outline guard", "cli.find": "search refs graph",
         "cli.memory": "memory observe digest harvest recall-signal", "cli.context": "budget savings usage gc",
         "cli.dashboard": "dashboard export", "cli.engine": "skills gate validate plugin-validate", "cli.setup": "setup",
         "doctor": "doctor", "hooks.dispatch": "hook", "statusline": "statusline", "mcp.server": "mcp"}


def main(argv):
    if sys.version_info < (3, 9):
        sys.stderr.write("slipstream needs Python 3.9 or later, not %s (%s).\n" % (sys.version.split()[0], sys.executable))
        return 0 if argv[1:2] == ["hook"] else 2  # from a hook, 2 would mean: deny
    sys.path[:0] = filter(os.path.isdir, [os.path.abspath(os.path.join(__file__, "..", "plugin", "src"))])  # of a checkout
    verb = " ".join(argv[1:3] if argv[2:] == ["--help"] and argv[1] in ("hook", "statusline") else argv[1:2]) or "help"
    name = "slipstream." + next((module for module in VERBS if verb in VERBS[module].split()), "cli.help")
    try:
        return __import__(name, fromlist=["main"]).main(argv[1:])
    except (Exception, KeyboardInterrupt) as error:
        if verb != "hook" and isinstance(error, Exception):  # the host's action goes on whatever happens to us
            raise
        return 0 if verb == "hook" else 130


if __name__ == "__main__":
    sys.stdout, sys.stderr = (one or open(os.devnull, "w") for one in (sys.stdout, sys.stderr))  # closed by who started us
    status = main(sys.argv)
    try:
        [stream.flush() for stream in (sys.stdout, sys.stderr)]
    except Exception:
        status = status or 1  # the reader closed the pipe
    os._exit(status or 0)  # skips the tear-down, a third of a bare start; nothing here relies on atexit
