"""The tree of times and tags: newest and most used first, and what is open stays open."""

from __future__ import annotations

from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from tests.dashboard.stage import Stage
from tui.models.shelf import Place
from tui.testing.driving import until
from tui.widgets.places import PlaceTree

TIMES = {"2025": 1, "2025/12": 1, "2026": 3, "2026/05": 3, "2026/05/week1": 1, "2026/05/week2": 2}
TAGS = {"cache": 1, "project": 3, "project/march": 2, "git": 1}


def drawn(node: TreeNode[Place], depth: int = 0) -> list[str]:
    below = [line for child in node.children for line in drawn(child, depth + 1)] if node.is_expanded else []
    return ["  " * depth + str(node.label), *below]


def node_of(tree: PlaceTree, place: Place) -> TreeNode[Place]:
    return next(node for node in tree._tree_nodes.values() if node.data == place)


async def test_the_newest_time_and_the_most_used_tag_come_first():
    stage = Stage(PlaceTree(id="places"))
    async with stage.run_test():
        tree = stage.query_one(PlaceTree)
        tree.show(4, TIMES, TAGS)
        assert drawn(tree.root) == [
            "all notes 4",
            "  time",
            "    2026 3",
            "    2025 1",
            "  tags",
            "    project 3",
            "    cache 1",
            "    git 1",
        ]


async def test_what_is_open_stays_open_and_the_cursor_where_it_is_when_notes_change():
    stage = Stage(PlaceTree(id="places"))
    async with stage.run_test() as pilot:
        tree = stage.query_one(PlaceTree)
        tree.show(4, TIMES, TAGS)
        node_of(tree, Place("tag", "project")).expand()
        node_of(tree, Place("times")).collapse()
        march = node_of(tree, Place("tag", "project/march"))
        await until(pilot, lambda: march.line > 0)
        tree.move_cursor(march)
        tree.show(5, {**TIMES, "2027": 1}, {**TAGS, "new": 9})
        assert drawn(tree.root) == [
            "all notes 5",
            "  time",
            "  tags",
            "    new 9",
            "    project 3",
            "      march 2",
            "    cache 1",
            "    git 1",
        ]
        await until(pilot, lambda: tree.cursor_node.data == Place("tag", "project/march"))


async def test_choosing_a_branch_tells_its_place_and_the_same_counts_change_nothing():
    stage = Stage(PlaceTree(id="places"))
    async with stage.run_test() as pilot:
        tree = stage.query_one(PlaceTree)
        tree.show(4, TIMES, TAGS)
        nodes = set(tree._tree_nodes.values())
        tree.show(4, dict(TIMES), dict(TAGS))
        assert set(tree._tree_nodes.values()) == nodes
        await pilot.press("down", "down", "down", "enter")
        await until(pilot, lambda: stage.told(Tree.NodeSelected))
        assert stage.told(Tree.NodeSelected)[0].node.data == Place("time", "2026")
