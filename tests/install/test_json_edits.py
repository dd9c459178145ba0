"""Splicing JSON texts: the edit on the text equals the edit on the value, and nothing else moves."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.install.json_edits import added, removed, scan

HAND_WRITTEN = """{
    // no: strict JSON only
}"""
SETTINGS = '{\n    "model": "opus",\n    "list": [1,2,   3],\n\n    "hooks": {"Stop": []}\n}\n'


def test_a_member_is_added_in_the_texts_own_indentation() -> None:
    assert added('{\n\t"a": 1\n}\n', [], "b", {"c": [1]}) == (
        '{\n\t"a": 1,\n\t"b": {\n\t\t"c": [\n\t\t\t1\n\t\t]\n\t}\n}\n'
    )


def test_missing_objects_on_the_way_are_made() -> None:
    assert json.loads(added("{}", ["hooks", "Stop"], None, {"x": 1})) == {"hooks": {"Stop": [{"x": 1}]}}
    assert added("{}", ["hooks"], "Stop", []) == '{\n  "hooks": {\n    "Stop": []\n  }\n}'


def test_everything_else_keeps_its_bytes() -> None:
    after = added(SETTINGS, ["hooks", "Stop"], None, "x")
    assert after.startswith(SETTINGS[: SETTINGS.index("[]")]) and '"list": [1,2,   3],\n\n' in after
    assert removed(after, ["hooks", "Stop", 0]) == SETTINGS


def test_windows_line_ends_stay() -> None:
    text = '{\r\n  "a": 1\r\n}\r\n'
    assert "\n" not in added(text, [], "b", {"c": 1}).replace("\r\n", "")


def test_a_byte_order_mark_is_no_trouble_to_the_scanner() -> None:
    with pytest.raises(ValueError):
        scan("\ufeff{}")


@pytest.mark.parametrize("text", ["", "{", HAND_WRITTEN, "[1,]", "{'a': 1}"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        added(text, [], "a", 1)


@pytest.mark.parametrize("path", [["a"], ["a", "b"], ["l"]])
def test_what_stands_in_the_way_is_an_error(path: list[str]) -> None:
    with pytest.raises(KeyError):
        added('{"a": 1, "l": []}', path, "k", 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=5), JSON, max_size=4)
STYLES = st.sampled_from([None, 1, 2, 4, "\t"])


@settings(deadline=None)
@given(OBJECTS, STYLES, st.text(max_size=5), JSON, st.booleans())
def test_adding_to_the_text_equals_adding_to_the_value(
    value: dict[str, Any], style: Any, key: str, more: Any, ascii_only: bool
) -> None:
    key = f"{key}!new"
    text = json.dumps(value, indent=style, ensure_ascii=ascii_only)
    after = added(text, [], key, more)
    assert json.loads(after) == {**value, key: more}
    assert list(json.loads(after)) == [*value, key]
    assert json.loads(removed(after, [key])) == value
    if value:
        assert removed(after, [key]) == text


@settings(deadline=None)
@given(OBJECTS.filter(bool), STYLES, st.data())
def test_removing_from_the_text_equals_removing_from_the_value(
    value: dict[str, Any], style: Any, data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(value)))
    expected = copy.deepcopy(value)
    del expected[key]
    assert json.loads(removed(json.dumps(value, indent=style), [key])) == expected
