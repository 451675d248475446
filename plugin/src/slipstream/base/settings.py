"""Settings from three places: ~/.claude/slipstream.json below the project's settings.json below SLIPSTREAM_* variables."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.json_files import load_json
from slipstream.base.roots import store_dir

# key: (default, may a project file set it, what it does). The README's table is generated from this one.
SETTINGS: dict[str, tuple[Any, bool, str]] = {
    "project": ("", True, "name of the project on the page, in `status` and in the map, instead of its folder's name"),
    "inject": (True, True, "give the agent context at session start, prompts and large reads"),
}


def load_settings(store_root: str, env: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Every known setting with its value. SlipstreamError names a settings file that is not JSON."""
    values = {key: default for key, (default, _, _) in SETTINGS.items()}
    home = os.path.join(os.path.expanduser("~"), ".claude", "slipstream.json")
    for path, from_project in ((home, False), (os.path.join(store_dir(store_root), "settings.json"), True)):
        try:
            found = load_json(path) or {}
        except OSError:
            continue
        for key, value in found.items():
            if key in SETTINGS and (SETTINGS[key][1] or not from_project) and fits(SETTINGS[key][0], value):
                values[key] = value
    for key, (default, _, _) in SETTINGS.items():
        text = env.get("SLIPSTREAM_" + "".join("_" + c if c.isupper() else c for c in key).upper())
        if text is not None:
            values[key] = _from_text(default, text, key)
    return values


def setting(store_root: str, key: str) -> Any:
    """One setting; its default where a file is damaged or the store refused, so that nothing stops for a typing error."""
    try:
        return load_settings(store_root)[key]
    except (SlipstreamError, OSError):
        return SETTINGS[key][0]


def project_title(store_root: str) -> str:
    """What the project is called where a person reads it."""
    return str(setting(store_root, "project") or os.path.basename(store_root))


def fits(default: Any, value: Any) -> bool:
    """Whether a value is of the kind of a setting's default."""
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, (int, float)):
        return isinstance(value, (int, float))
    return isinstance(value, type(default))


def _from_text(default: Any, text: str, key: str) -> Any:
    if isinstance(default, bool):
        return text.strip().lower() not in ("", "0", "false", "no", "off")
    if isinstance(default, (int, float)):
        try:
            return type(default)(text)
        except ValueError:
            raise SlipstreamError(f"SLIPSTREAM_{key.upper()} is not a number: {text!r}") from None
    return text
