"""The page: its modules joined into one, and one file that shows a map without Python or a network."""

import base64
import gzip
import hashlib
import html
import re
import struct
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

_ENTRY = "app.js"
_IMPORT = re.compile(r"""^import .*?from\s+["']\./([\w.-]+)["'];?\s*$""", re.M)
_ANY_IMPORT = re.compile(r"^import .*$\n?", re.M)
_EXPORT = re.compile(r"^export (?!default)", re.M)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


@cache
def static() -> dict[str, bytes]:
    """Files of the page by name; the module is the joined one."""
    folder = files("lowdim.explorer") / "static"
    found = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file() and _ending(one.name) in KINDS}
    found[_ENTRY] = joined().encode()
    return found


def _ending(name: str) -> str:
    return "." + name.rpartition(".")[2]


@cache
def joined(entry: str = _ENTRY) -> str:
    """The modules of a page as one: each after those it imports, without the lines that imported them."""
    folder = files("lowdim.explorer") / "static"
    sources = {one.name: one.read_text("utf-8") for one in folder.iterdir() if one.name.endswith(".js")}
    return join(sources, entry)


def join(sources: dict[str, str], entry: str) -> str:
    r"""One module of several, from the entry down; only what the entry exports is exported.

    >>> print(join({"a.js": 'import { b } from "./b.js";\nexport const a = b;', "b.js": "export const b = 1;"}, "a.js"))
    const b = 1;
    export const a = b;
    """
    order: list[str] = []
    open_: set[str] = set()

    def visit(name: str) -> None:
        if name in order:
            return
        if name in open_ or name not in sources:
            why = "imports itself through others" if name in open_ else "is missing"
            raise ValueError(f"join: the module {name!r} {why}. Correct its imports.")
        open_.add(name)
        for needed in _IMPORT.findall(sources[name]):
            visit(needed)
        order.append(name)

    visit(entry)
    parts = []
    for name in order:
        text = _ANY_IMPORT.sub("", sources[name])
        parts.append((text if name == entry else _EXPORT.sub("", text)).strip("\n"))
    return "\n".join(parts)


def saved_page(messages: Iterable[bytes], title: str, engine: str | None = None) -> str:
    """One HTML file that holds the module, its style and these messages, and needs no network.

    ``engine`` is the compiled core as text, for a page that computes.
    """
    blob = b"".join(struct.pack("<I", len(message)) + message for message in messages)
    held = {"messages": base64.b64encode(gzip.compress(blob, 6, mtime=0)).decode()}
    if engine is not None:
        held["engine"] = engine
    start = 'replay(document.getElementById("explorer"), document.getElementById("messages").textContent);'
    return alone(_ENTRY, start, title, '<div id="explorer" class="saved"></div>', held)


def alone(entry: str, start: str, title: str, body: str, held: dict[str, str]) -> str:
    """One HTML file: a module from its entry on, with what it holds as text by its id; it loads nothing.

    Its policy allows this script and style alone; a page that holds the core may also compile it and start Workers.
    """
    style = static()["app.css"].decode()
    script = _unbroken(f"{joined(entry)}\n{start}\n")
    computes = "engine" in held
    rules = {
        "default-src": "'none'",
        "script-src": _hashed(script) + (" 'wasm-unsafe-eval'" if computes else ""),
        "style-src": _hashed(style),
        "img-src": "data: blob:",
        **({"worker-src": "blob:"} if computes else {}),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    policy = "; ".join(f"{name} {value}" for name, value in rules.items())
    texts = "".join(f'<script type="text/plain" id="{name}">{text}</script>\n' for name, text in held.items())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n{texts}"
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _unbroken(script: str) -> str:
    """Script that contains no end tag."""
    if re.search(r"</script|<!--", script, re.I):
        raise ValueError("saved_page: the modules must not hold '</script' or '<!--'. Write them in two parts.")
    return script


def content_type(name: str) -> str:
    """Type under which a file of the page is served."""
    return KINDS[_ending(name)]


def plain(value: Any) -> dict[str, Any]:
    """State of a view as the page sent it; None for anything else."""
    return value if isinstance(value, dict) else {}
