"""Our block in Codex's config.toml: at its end, once, and out again; what is in the way is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.install.clients import CODEX, run
from vaultmem.config import Config
from vaultmem.errors import EditRefusedError
from vaultmem.install.codex_block import BLOCK_BEGIN, BLOCK_END, codex_block, with_block
from vaultmem.install.invocation import HOOK_EVENTS


def test_codex_gets_one_block_at_the_end(config: Config, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    path.write_text(CODEX)
    run("codex", config, home)
    text = path.read_text()
    assert text.startswith(CODEX)
    parsed = tomllib.loads(text)
    assert parsed["mcp_servers"]["vaultmem"]["args"][0] in ("mcp", "-m")
    assert [len(parsed["hooks"][event]) for event in HOOK_EVENTS] == [1, 1, 1, 2]
    hook = parsed["hooks"]["UserPromptSubmit"][0]["hooks"][0]
    assert hook["type"] == "command" and " hook codex " in hook["command"] and hook["timeout"] == 5


@pytest.mark.parametrize("text", ["a = ", "[mcp_servers]\nvaultmem = { command = 'x' }\n", "hooks = 3\n"])
def test_codex_settings_in_the_way_are_refused_and_left(text: str, config: Config, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    path.write_text(text)
    with pytest.raises(EditRefusedError):
        run("codex", config, home)
    assert path.read_text() == text


def test_windows_line_ends_and_a_missing_last_one_survive(config: Config, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    for text in ('a = 1\r\nb = "x"\r\n', "a = 1", "", "\n\n", "a = 1\n\n"):
        path.write_bytes(text.encode())
        run("codex", config, home)
        run("codex", config, home, remove=True)
        assert path.read_bytes().decode().rstrip("\r\n") == text.rstrip("\r\n")


def test_what_comes_after_our_block_stays(config: Config, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    run("codex", config, home)
    path.write_text(path.read_text() + "\n[added.later]\nx = 1\n")
    run("codex", config, home, remove=True)
    assert path.read_text() == "\n[added.later]\nx = 1\n"


@pytest.mark.parametrize(
    "added",
    ["x = 1\n", "\n# mine\nx = 1\n", "[[hooks.Stop.hooks]]\ncommand = 'mine'\n"],
    ids=["key", "key after a remark", "handler in our group"],
)
@pytest.mark.parametrize("before", ["", "[other]\ny = 2\n", "[[hooks.Stop]]\nhooks = []\n"])
def test_what_was_written_into_our_last_table_does_not_become_another_tables(
    config: Config, before: str, added: str
) -> None:
    block = codex_block(config, with_hooks=True)
    written = with_block(before, block)
    assert written is not None
    for wanted in (None, block):
        with pytest.raises(ValueError, match="cannot be told apart"):
            with_block(written + added, wanted)


def test_a_number_that_is_none_is_in_nobodys_way(config: Config) -> None:
    block = codex_block(config, with_hooks=True)
    written = with_block("x = nan\n", block)
    assert written and with_block(written, None) == "x = nan\n"


def test_a_block_without_its_end_is_refused(config: Config) -> None:
    written = with_block("", codex_block(config, with_hooks=True))
    assert written is not None
    with pytest.raises(ValueError, match="no end mark"):
        with_block(written.replace(BLOCK_END, "# cut"), None)


def test_without_a_file_there_is_nothing_to_take_out() -> None:
    assert with_block(None, None) is None


SECTIONS = st.lists(
    st.sampled_from(
        ["a = 1\n", "# remark\n", "\n", "[t]\nx = 1.5\n", "[[hooks.Stop]]\nhooks = []\n", "[u.v]\n"]
    ),
    unique=True,
).map(lambda parts: "".join(sorted(parts, key=lambda part: part.startswith("["))))
"""Files whose bare keys come first."""


@given(
    SECTIONS,
    SECTIONS.map(lambda text: text.replace("a = 1\n", "").replace("[t]", "[t2]").replace("u.v", "w")),
)
def test_the_block_is_put_in_once_and_taken_out_whatever_is_around_it(before: str, after: str) -> None:
    config = Config(Path('/notes/名 "q" \\'), Path("/state"))
    block = codex_block(config, with_hooks=True)
    written = with_block(before, block)
    assert written is not None and written.startswith(before) and with_block(written, block) == written
    grown = written + after
    rest = with_block(grown, None)
    assert rest is not None and BLOCK_BEGIN not in rest
    assert rest.rstrip("\n").endswith(after.rstrip("\n")) and rest.startswith(before.rstrip("\n"))
    moved = with_block(grown, block)
    assert moved is not None and moved.endswith(block) and moved.count(BLOCK_BEGIN) == 1
