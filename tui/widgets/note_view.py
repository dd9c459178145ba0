"""A note's metadata and body, for reading."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Static

from tui.looks.formatting import MUTED, day, lines
from tui.looks.signs import STATUSES, sign
from tui.models.shelf import changed, made
from vaultmem.text.amounts import size
from vaultmem.text.shown import harmless, harmless_block
from vaultmem.views import NoteView, OpenedMemory

BODY_CHARS = 6_000
"""More is not rendered: a preview must never make the next key wait."""


class NotePreview(VerticalScroll, can_focus=True):
    """Metadata above, the body as Markdown below. Links do nothing."""

    def compose(self) -> ComposeResult:
        """Two parts."""
        yield Static("", id="preview-facts")
        yield Markdown("", id="preview-body", open_links=False)

    def show(self, note: OpenedMemory, view: NoteView | None) -> None:
        """Show a note; the same text again does not move the scroll position."""
        self.query_one("#preview-facts", Static).update(_facts(note, view))
        body = harmless_block(note.body[:BODY_CHARS])
        if len(note.body) > BODY_CHARS:
            body = (
                body.rpartition("\n")[0]
                + "\n\n…\n\n*The rest is not shown here; `e` opens the whole note.*\n"
            )
        markdown = self.query_one(Markdown)
        if (note.path, body) != getattr(self, "_shown", None):
            if note.path != getattr(self, "_shown", ("", ""))[0]:
                self.scroll_home(animate=False)
            self._shown = (note.path, body)
            markdown.update(body)

    def complain(self, path: str, message: str) -> None:
        """Say why there is nothing to show."""
        self._shown = (path, "")
        told = lines(
            [
                Content.styled(harmless(path), MUTED),
                Content.assemble(("✖ ", "$text-error"), harmless(message)),
            ]
        )
        self.query_one("#preview-facts", Static).update(told)
        self.query_one(Markdown).update("")

    def clear(self) -> None:
        """Show nothing."""
        self._shown = ("", "")
        self.query_one("#preview-facts", Static).update("")
        self.query_one(Markdown).update("")


def _facts(note: OpenedMemory, view: NoteView | None) -> Content:
    status = sign(STATUSES, note.status)
    dates = f"{_dates(view)}, {size(view.size)}" if view else ""
    tags = "  ".join(f"#{harmless(tag)}" for tag in note.tags)
    description = harmless(note.description)
    return lines(
        [
            Content.styled(harmless(note.name) or "—", "bold $primary"),
            Content(description) if description else Content.styled("▲ no description", "$text-warning"),
            Content.styled(tags or "no tags", "$text-secondary" if tags else MUTED),
            Content.assemble((str(status), status.style), (f"   {harmless(note.id or 'no id')}", MUTED)),
            Content.styled(harmless(note.path), MUTED),
            Content.styled(dates, MUTED),
        ]
    )


def _dates(view: NoteView) -> str:
    """When it was made and changed; where that does not stand in the metadata, it is said where it comes from."""
    first, last = made(view), changed(view)
    if first is None or last is None:
        return f"updated {day(last.text)}" if last else "no date"
    about = "about " if first.origin == "folder" else ""
    told = f"made {about}{day(first.text)}" + (f" (by its {first.origin})" if first.origin else "")
    return f"{told}, updated {day(last.text)}" if last.text == view.updated_at else told
