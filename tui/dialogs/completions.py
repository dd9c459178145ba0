"""Tags of the vault for what is being typed."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from tui.looks.formatting import MUTED
from tui.widgets.columns import Cells, Column
from tui.widgets.rows import Rows
from vaultmem.text.amounts import count
from vaultmem.text.shown import harmless


class Completions(Rows):
    """Each tag with how many notes have it."""

    def __init__(self) -> None:
        columns = [Column("", 12, share=1), Column("", 8, is_right=True)]
        super().__init__(columns, id="completions", has_header=False)

    def offer(self, tags: Sequence[tuple[str, int]]) -> None:
        """Show these tags."""

        def draw(index: int) -> Cells:
            name, number = tags[index]
            return (harmless(name), Content.styled(count(number), MUTED))

        self.fill([name for name, _ in tags], draw)
