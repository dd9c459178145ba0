"""The tree of errors: as its docstring draws it, and each with the exit code that stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vaultmem import errors
from vaultmem.errors import ConfigError, ConflictError, VaultmemError, WriterBusyError
from vaultmem.evaluation.evaluation import EvaluationError
from vaultmem.evaluation.golden import GoldenSetError

OF_A_ROOM = {GoldenSetError, EvaluationError}
"""Errors that are drawn in the tree and live with what raises them."""


def drawn() -> Iterator[tuple[str, str, int]]:
    """Each error in the docstring, the one above it, and the exit code of its branch."""
    above = code = None
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"    ([├└]|[│ ]   [├└])── (\w+)", line):
            is_branch, name = len(found[1]) == 1, found[2]
            if is_branch:
                above, code = name, int(line.rpartition("exit ")[2])
            assert above is not None and code is not None
            yield name, "VaultmemError" if is_branch else above, code


def test_the_tree_is_the_one_that_is_drawn() -> None:
    there = {each for each in vars(errors).values() if isinstance(each, type)} | OF_A_ROOM
    tree = {
        (each.__name__, each.__bases__[0].__name__, each.exit_code)
        for each in there
        if issubclass(each, VaultmemError) and each is not VaultmemError
    }
    assert tree == set(drawn())


def test_an_error_says_what_is_wrong_and_carries_what_to_do() -> None:
    error = ConflictError("two notes", paths=("a.md", "b.md"), advice="choose")
    assert (str(error), error.advice, error.paths) == ("two notes", "choose", ("a.md", "b.md"))
    assert (VaultmemError("x").advice, WriterBusyError("x").pid) == ("", None)


def test_a_config_error_is_a_usage_error_elsewhere() -> None:
    assert ConfigError("x").exit_code == 2
