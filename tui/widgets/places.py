"""The tree beside the memories: years, months and weeks, and tags, each with its number of notes."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from tui.models.shelf import Place
from vaultmem.text.amounts import count
from vaultmem.text.shown import harmless

MOST_TAGS = 1_000


class PlaceTree(Tree[Place]):
    """Choosing a branch shows its notes. What is open stays open when notes change."""

    def __init__(self, *, id: str) -> None:
        super().__init__("all notes", Place(), id=id)
        self.guide_depth = 2
        self.show_root = True
        self._shown: tuple[int, Mapping[str, int], Mapping[str, int]] | None = None

    def show(self, notes: int, times: Mapping[str, int], tags: Mapping[str, int]) -> None:
        """Show these counts; nothing happens when they are the ones that are shown."""
        if (notes, times, tags) == self._shown:
            return
        is_first = self._shown is None
        self._shown = (notes, times, tags)
        open_places = {node.data for node in self._tree_nodes.values() if node.is_expanded and node.data}
        cursor = self.cursor_node.data if self.cursor_node else None
        self.root.remove_children()
        self.root.set_label(_label("all notes", notes))
        by_time = self.root.add("time", Place("times"), expand=is_first or Place("times") in open_places)
        self._add_branches(by_time, "time", times, sorted(times, reverse=True), open_places)
        by_tag = self.root.add("tags", Place("tags"), expand=is_first or Place("tags") in open_places)
        ordered = sorted(tags, key=lambda tag: (-tags[tag], tag))[:MOST_TAGS]
        self._add_branches(by_tag, "tag", tags, ordered, open_places)
        self.root.expand()
        self._put_cursor(cursor)

    def _add_branches(
        self,
        parent: TreeNode[Place],
        kind: str,
        counts: Mapping[str, int],
        ordered: list[str],
        open_places: set[Place],
    ) -> None:
        """Add the values under their parents (`a` before `a/b`), keeping the given order among sisters."""
        nodes: dict[str, TreeNode[Place]] = {"": parent}
        has_children = {value.rpartition("/")[0] for value in ordered}
        for value in sorted(ordered, key=lambda value: (value.count("/"), ordered.index(value))):
            above, _, name = value.rpartition("/")
            if above not in nodes:
                continue
            place, label = Place(kind, value), _label(name, counts[value])
            if value in has_children:
                nodes[value] = nodes[above].add(label, place, expand=place in open_places)
            else:
                nodes[above].add_leaf(label, place)

    def _put_cursor(self, place: Place | None) -> None:
        for node in self._tree_nodes.values():
            if node.data == place:
                self.call_after_refresh(self.move_cursor, node)
                return


def _label(name: str, number: int) -> Text:
    return Text.assemble(harmless(name), (f" {count(number)}", "dim"), no_wrap=True)
