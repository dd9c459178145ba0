"""Write the rooms and the words of their modules into docs/glossary.md, from each room's own table of contents."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
BEGIN, END = "<!-- rooms: made by `make glossary` -->\n", "<!-- end of rooms -->\n"
_LINE = re.compile(r"^([a-z_0-9]+/?(?:, [a-z_0-9]+)*) {2,}(\S.*)$")


def rooms() -> list[tuple[str, str, dict[str, str]]]:
    """Each room's path, what it is, and what each of its modules is; a room is a folder with a docstring."""
    found = []
    for init in sorted([*(ROOT / "vaultmem").rglob("__init__.py"), *(ROOT / "tui").rglob("__init__.py")]):
        summary, *others = (ast.get_docstring(ast.parse(init.read_text("utf-8"))) or "").split("\n\n")
        lines = [match.groups() for line in "\n".join(others).splitlines() if (match := _LINE.match(line))]
        modules = {name.strip("/"): meaning for names, meaning in lines for name in names.split(", ")}
        found.append((init.parent.relative_to(ROOT).as_posix(), " ".join(summary.split()), modules))
    return found


def section() -> str:
    """The table of the glossary."""
    lines = ["| Room | What it is | Its modules |", "| --- | --- | --- |"]
    for room, summary, modules in rooms():
        words = " · ".join(f"**{name}**: {meaning}" for name, meaning in modules.items())
        lines.append(f"| `{room}` | {summary} | {words} |".replace(" |  |", " | |"))
    return "\n".join(lines) + "\n"


def with_rooms(glossary: str) -> str:
    """The glossary with the table as it should be."""
    before, _, rest = glossary.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{section()}\n{END}{after}"


if __name__ == "__main__":
    text = GLOSSARY.read_text("utf-8")
    GLOSSARY.write_text(with_rooms(text), "utf-8")
    sys.stdout.write(f"{GLOSSARY.relative_to(ROOT)}: {len(rooms())} rooms\n")
