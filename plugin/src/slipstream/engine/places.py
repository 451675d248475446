"""Where the plugin itself lives: its folder, its pyz, and the command that runs slipstream from here."""
from __future__ import annotations

import os
import sys

import slipstream


def package_container() -> str:
    """The folder or archive that holds the `slipstream` package: `.../plugin/slipstream.pyz` or `.../plugin/src`."""
    return os.path.dirname(os.path.dirname(os.path.abspath(slipstream.__file__)))


def running_pyz() -> str:
    """The pyz this process runs from, or "" when it runs from source."""
    container = package_container()
    return container if os.path.isfile(container) else ""


def plugin_root() -> str:
    """The plugin folder around the running code (it holds `.claude-plugin/plugin.json`), or "" for a lone pyz."""
    folder = os.path.dirname(package_container())
    return folder if os.path.isfile(os.path.join(folder, ".claude-plugin", "plugin.json")) else ""


def plugin_skills_dir() -> str:
    """The skills that ship with the plugin, or "" for a lone pyz."""
    folder = os.path.join(os.path.dirname(package_container()), "skills")
    return folder if os.path.isdir(folder) else ""


def find_pyz() -> str:
    """The pyz to name in other programs' settings: the running one, or the one beside the source; "" when absent."""
    pyz = running_pyz() or os.path.join(os.path.dirname(package_container()), "slipstream.pyz")
    return pyz if os.path.isfile(pyz) else ""


def page_command(tree_root: str) -> str:
    """What opens the page of a project, to be pasted into any terminal: nobody has `slipstream` on the PATH."""
    return 'python3 -I -S "%s" dashboard open --root "%s"' % (find_pyz().replace("\\", "/") or "slipstream.pyz", tree_root)


def slipstream_command() -> list[str]:
    """Words that start slipstream with this interpreter, isolated, from the pyz or from source."""
    pyz = running_pyz()
    if pyz:
        return [sys.executable, "-I", "-S", pyz]
    launcher = os.path.join(os.path.dirname(os.path.dirname(package_container())), "slipstream.py")
    return [sys.executable, "-I", "-S", launcher]
