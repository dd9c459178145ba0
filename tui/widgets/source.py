"""A note's text with line numbers, and the line with the problem marked."""

from __future__ import annotations

from textual.content import Content

from tui.widgets.columns import Cells, Column
from tui.widgets.rows import Rows

MOST_SHOWN_LINES = 2_000


class Source(Rows):
    """The lines of a note, at most `MOST_SHOWN_LINES` around the marked one."""

    def __init__(self, *, id: str) -> None:
        super().__init__([Column("", 5, is_right=True), Column("", 10, share=1)], id=id, has_header=False)

    def show(self, text: str, line: int | None, column: int | None, complaint: str) -> None:
        """Show the text. Under the line with the problem stands a pointer with the complaint."""
        all_lines = text.splitlines() or [""]
        first = max(0, (line or 1) - 1 - MOST_SHOWN_LINES // 2)
        shown = all_lines[first : first + MOST_SHOWN_LINES]
        drawn = [self._numbered(first + at + 1, content, line) for at, content in enumerate(shown)]
        keys = [str(first + at + 1) for at in range(len(shown))]
        if line is not None and first < line <= first + len(shown):
            drawn.insert(
                line - first,
                ("", Content.styled(_pointer(shown[line - first - 1], column, complaint), "$text-error")),
            )
            keys.insert(line - first, "pointer")
        self.fill(keys, lambda index: drawn[index], key=str(line or 1))

    def clear(self) -> None:
        """Show nothing."""
        self.fill([], lambda index: ())

    def _numbered(self, number: int, text: str, marked: int | None) -> Cells:
        shown = Content("".join(_visible(each) for each in text.expandtabs(4)))
        if number == marked:
            return (Content.styled(f"▶{number:>4}", "bold $text-error"), shown.stylize("bold"))
        return (Content.styled(str(number), "$foreground 40%"), shown)


def _visible(character: str) -> str:
    return character if character.isprintable() or character == "\u200d" else "�"


def _pointer(text: str, column: int | None, complaint: str) -> str:
    at = min(max(0, (column or 1) - 1), 60)
    indent = Content(text[:at].expandtabs(4)).cell_length
    return " " * indent + f"╰─ {complaint}"
