"""Text search over the notes' files: ripgrep and the fallback give the same matches."""

from __future__ import annotations

import os
import sys
import unicodedata
from pathlib import Path

import pytest

from tests.search.folders import Search, places, put
from vaultmem.errors import UsageError
from vaultmem.search.lines import Match


def test_a_match_has_its_path_its_line_and_the_lines_around_it(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "2026/05/week2/a.md", "one\ntwo\nthree needle\nfour\nneedle five\nsix\nseven\neight\n")
    assert find("needle", context=1).matches == (
        Match("2026/05/week2/a.md", 3, "three needle", ("two",), ("four",)),
        Match("2026/05/week2/a.md", 5, "needle five", ("four",), ("six",)),
    )
    assert find("needle").matches[1].before == ("three needle", "four")
    assert find("needle", context=0).matches[0] == Match("2026/05/week2/a.md", 3, "three needle", (), ())


def test_nothing_found_is_no_matches_and_no_warning(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "text\n")
    found = find("needle")
    assert (found.matches, found.warnings) == ((), ())
    assert find("text", limit=3, keep=lambda path: False).matches == ()


def test_the_newest_dated_path_comes_first_and_a_limit_keeps_it(find: Search, tmp_path: Path) -> None:
    for path in ("2025/12/a.md", "2026/01/b.md", "2026/01/a.md", "2026/01/a/c.md", "2026-x.md"):
        put(tmp_path, path, "needle\nneedle\n")
    order = ["2026-x.md", "2026/01/b.md", "2026/01/a.md", "2026/01/a/c.md", "2025/12/a.md"]
    assert [path for path, line in places(find("needle")) if line == 1] == order
    assert places(find("needle", limit=3)) == [(order[0], 1), (order[0], 2), (order[1], 1)]
    assert places(find("needle", limit=2, keep=lambda path: path < "2026")) == [(order[4], 1), (order[4], 2)]


def test_the_last_match_within_the_limit_still_has_its_neighbours(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "needle 1\nneedle 2\nneedle 3\nneedle 4\n")
    assert find("needle", limit=1).matches == (Match("a.md", 1, "needle 1", (), ("needle 2", "needle 3")),)


def test_what_a_scan_leaves_out_is_not_searched(find: Search, tmp_path: Path) -> None:
    skipped = (
        *(
            ".trash/n.md",
            ".obsidian/plugins/x/n.md",
            ".git/n.md",
            ".stversions/2026/n.md",
            "a/.smart-env/n.md",
        ),
        *("~syncthing~live.md.tmp", "live.md~", ".live.md.swp", ".syncthing.live.md.tmp", "live.md.crswap"),
        *("._live.md", ".live.md", "~$live.md", "live.txt", "live.mdx", "md", ".md"),
    )
    for name in skipped:
        put(tmp_path, name, "needle\n")
    put(tmp_path, "live.md", "needle\n")
    put(tmp_path, "Loud.MD", "needle\n")
    assert places(find("needle")) == [("live.md", 1), ("Loud.MD", 1)]


def test_ignore_files_and_the_users_configuration_hide_nothing(
    find: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, ".git/HEAD", "ref: refs/heads/main\n")
    for name in (".gitignore", ".ignore", ".rgignore", ".git/info/exclude"):
        put(tmp_path, name, "*.md\n2026/\n*\n")
    put(tmp_path, "rgrc", "--files\n--glob=!*.md\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rgrc"))
    put(tmp_path, "2026/n.md", "needle\n")
    assert places(find("needle")) == [("2026/n.md", 1)]


def test_links_and_pipes_are_not_read(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "outside/o.md", "needle\n")
    put(tmp_path, "root/n.md", "needle\n")
    root = tmp_path / "root"
    (root / "up").symlink_to("..", target_is_directory=True)
    (root / "ext").symlink_to(tmp_path / "outside", target_is_directory=True)
    (root / "link.md").symlink_to(tmp_path / "outside" / "o.md")
    (root / "gone.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(root / "pipe.md")
    found = find("needle", keep=lambda path: path.startswith("root/"))
    assert (places(found), found.warnings) == ([("root/n.md", 1)], ())


@pytest.mark.parametrize(
    "name",
    [
        *(
            "-dash.md",
            "a b.md",
            "q'uote\".md",
            "new\nline.md",
            "co:lon:12:.md",
            "glob[1]*?.md",
            "🧠.md",
            "%s.md",
        ),
        *(
            "$(x).md",
            "\u200bzw.md",
            "记" * 84 + ".md",
            " lead.md",
            "trail .md",
            "[red].md",
            "a\\b.md",
            "12-34-x.md",
        ),
        "cafe\u0301.md",
    ],
)
def test_odd_names_survive(find: Search, tmp_path: Path, name: str) -> None:
    put(tmp_path, f"sub\n1:2:x/{name}", "before\nneedle\nafter\n")
    assert find("needle").matches == (Match(f"sub\n1:2:x/{name}", 2, "needle", ("before",), ("after",)),)


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take UTF-8 only")
def test_a_name_that_is_not_utf8_survives(find: Search, tmp_path: Path) -> None:
    put(tmp_path, b"bad\xff.md", "needle\n")
    (match,) = find("needle").matches
    assert os.fsencode(match.path) == b"bad\xff.md"


@pytest.mark.parametrize(
    ("pattern", "is_found"),
    [
        ("--pdf-engine", True),
        ("-77", True),
        ("-> arrow", True),
        ("--pre=touch x", False),
        ("-r", False),
        ("--", True),
    ],
)
@pytest.mark.parametrize("fixed", [True, False])
def test_a_pattern_may_begin_with_a_dash(
    find: Search, tmp_path: Path, pattern: str, is_found: bool, fixed: bool
) -> None:
    put(tmp_path, "a.md", "use --pdf-engine=xelatex\nexit code -77\na -> arrow\n")
    assert bool(find(pattern, fixed=fixed).matches) is is_found
    assert list(tmp_path.iterdir()) == [tmp_path / "a.md"]


def test_fixed_text_has_no_operators(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "f(x) = a.b[c]*\nabc\n(\n")
    assert places(find("a.b[c]*", fixed=True)) == [("a.md", 1)]
    assert places(find("(", fixed=True)) == [("a.md", 1), ("a.md", 3)]
    assert places(find("^a.?b")) == [("a.md", 2)]


def test_case_counts(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "Docker ÄRGER\n")
    assert not find("docker").matches and not find("ärger", fixed=True).matches
    assert find("Docker").matches and find("ÄRGER", fixed=True).matches


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("query", ["café", "がんばる", "한국어", "Å", "très"])
@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
def test_composed_and_decomposed_letters_find_each_other(
    find: Search, tmp_path: Path, query: str, stored: str, asked: str, fixed: bool
) -> None:
    text = unicodedata.normalize(stored, "x\nun café très がんばる 한국어 Å\n")  # type: ignore[arg-type]
    put(tmp_path, "a.md", text)
    assert places(find(unicodedata.normalize(asked, query), fixed=fixed)) == [("a.md", 2)]  # type: ignore[arg-type]


def test_operators_apply_to_a_letter_in_either_form(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "a.md", unicodedata.normalize("NFD", "ééé\né\nee\n"))
    assert places(find("^é{2,}$")) == [("a.md", 1)]
    assert places(find("^é?e+$")) == [("a.md", 3)]
    put(tmp_path, "a.md", "naïve [é]\n")
    assert places(find(r"na[ïi]ve \[é\]")) == [("a.md", 1)]


def test_a_line_end_anchor_stands_before_a_carriage_return_and_none_is_shown(
    find: Search, tmp_path: Path
) -> None:
    put(tmp_path, "a.md", "before\r\nend here\r\nnext\r\n")
    for pattern in ("here$", "^end here$", "e$"):
        assert find(pattern, limit=1, keep=lambda path: True).matches
    (match,) = find("here$").matches
    assert match == Match("a.md", 2, "end here", ("before",), ("next",))


def test_only_line_feeds_end_a_line(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one\u2028two\x85three\x0cfour\x0bfive\rsix needleA\nlast needleB")
    assert [match.line for match in find("needle[AB]").matches] == [1, 2]
    assert find("^last").matches[0].text == "last needleB"


def test_a_nul_byte_hides_nothing(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"first \x00 needle\n" + b"\x00" * 70_000 + b"\nsecond needle\n")
    assert [match.line for match in find("needle").matches] == [1, 3]


def test_text_with_a_byte_order_mark_is_searched_decoded(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "le.md", "\ufeffneedle 记忆\nmore\n".encode("utf-16-le"))
    put(tmp_path, "be.md", "\ufeffneedle 记忆\nmore\n".encode("utf-16-be"))
    put(tmp_path, "u8.md", "\ufeffneedle 记忆\nmore\n")
    put(tmp_path, "gbk.md", "needle 记忆\nmore\n".encode("gbk"))
    assert [match.text for match in find("^needle 记忆$").matches] == ["needle 记忆"] * 3
    assert [match.after for match in find("^needle").matches] == [("more",)] * 4


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("\t", "empty"),
        ("a\nb", "several lines"),
        ("a\r\nb", "several lines"),
    ],
)
@pytest.mark.parametrize("fixed", [True, False])
def test_an_empty_or_multi_line_pattern_is_a_usage_error(
    find: Search, pattern: str, words: str, fixed: bool
) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        find(pattern, fixed=fixed)
    assert caught.value.advice


@pytest.mark.parametrize("pattern", ["a\0b", "x" * 30_001])
def test_a_pattern_that_no_program_takes_is_a_usage_error(find: Search, pattern: str) -> None:
    with pytest.raises(UsageError):
        find(pattern)


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "*a", "a{2,1}", "(?P<n"])
def test_a_broken_expression_is_a_usage_error_in_one_line(find: Search, tmp_path: Path, pattern: str) -> None:
    put(tmp_path, "a.md", "text\n")
    with pytest.raises(UsageError, match=r"cannot read this regular expression: .+") as caught:
        find(pattern)
    assert "\n" not in str(caught.value)
    assert "--fixed" in caught.value.advice


# --- size ------------------------------------------------------------------------------------------------


def test_a_long_line_is_shown_around_its_match(find: Search, tmp_path: Path) -> None:
    for length in (400, 3000, 20_000):
        put(tmp_path, "a.md", f"head\n{'字' * length} the needle {'文' * length}\ntail\n")
        for pattern, fixed in (("needle", True), ("n[e]+dle", False), ("(?i)NEEDLE", False)):
            (match,) = find(pattern, fixed=fixed).matches
            assert len(match.text) <= 300
            assert "字 the needle 文" in match.text
            assert match.text[0] == match.text[-1] == "…"
            assert (match.before, match.after) == (("head",), ("tail",))


def test_a_match_at_either_end_of_a_long_line_is_shown(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "a.md", f"needle{'a ' * 9000}\n")
    assert find("needle").matches[0].text.startswith("needlea a")
    put(tmp_path, "a.md", f"{'a ' * 9000}needle\r\n")
    assert find("needle$").matches[0].text.endswith(" a needle")


def test_a_long_first_line_behind_a_byte_order_mark_is_shown_around_its_match(
    find: Search, tmp_path: Path
) -> None:
    put(tmp_path, "a.md", "\ufeff" + "é" * 5000 + "needle" + "é" * 5000 + "\nneedle 2\n")
    assert "éneedleé" in find("needle").matches[0].text


def test_long_neighbours_are_cut_at_their_end(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "a.md", "b" * 100_000 + "\nneedle\n" + "e\u0301" * 5000 + "\n")
    (match,) = find("needle").matches
    assert match.before == ("b" * 159 + "…",)
    assert match.after[0].endswith("e\u0301…")
    assert len(match.after[0]) <= 160


def test_a_huge_line_costs_little(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "big.md", b"start needle_big " + b"A" * 20_000_000 + b"\nshort\n")
    (match,) = find("needle_big").matches
    assert match.text.startswith("start needle_big AAA")
    (match,) = find("A").matches  # twenty million matches in one line
    assert len(match.text) <= 300
    (match,) = find("short").matches
    assert match.before == ("start needle_big " + "A" * 142 + "…",)


def test_many_long_matches_stay_under_100_kilobytes(find: Search, tmp_path: Path) -> None:
    for number in range(30):
        put(tmp_path, f"{number}.md", "".join(f"{'记' * 900} needle {'忆' * 900}\n" for _ in range(9)))
    found = find("needle")
    assert len(found.matches) == 20
    assert sum(len(str(match).encode()) for match in found.matches) < 100_000


def test_a_folder_that_cannot_be_listed_is_a_warning(
    find: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    put(tmp_path, "ok.md", "needle\n")
    put(tmp_path, "no.md", "needle\n")
    put(tmp_path, "dir/x.md", "needle\n")
    (tmp_path / "no.md").chmod(0)
    (tmp_path / "dir").chmod(0)
    found = find("needle")
    (tmp_path / "dir").chmod(0o700)
    assert places(found) == [("ok.md", 1)]
    assert sorted(found.warnings) == ["dir: Permission denied", "no.md: Permission denied"]


# --- what was checked is what is shown


def test_a_folder_that_becomes_a_link_meanwhile_shows_nothing_from_outside(
    find: Search, tmp_path: Path
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    put(outside, "x.md", "needle outside\n")
    for name in ("b/x.md", "a/x.md"):
        put(root, name, "needle inside\n")

    def exchange(path: str) -> bool:
        if not (root / "a").is_symlink():
            (root / "a").rename(tmp_path / "was")
            (root / "a").symlink_to(outside)
        return True

    found = find("needle", root=root, keep=exchange)
    assert [(match.path, match.text) for match in found.matches] == [("b/x.md", "needle inside")]
    (warning,) = found.warnings
    assert warning.startswith("a") and "link" in warning


def test_a_note_above_the_limit_of_a_sync_is_left_out_and_named(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "big.md", "needle\n" + "x" * 200)
    put(tmp_path, "small.md", "needle\n")
    found = find("needle", size_limit=100)
    assert places(found) == [("small.md", 1)]
    assert found.warnings == ("big.md: not searched, it is larger than 0 MiB",)
    assert find("nothing", size_limit=100).warnings == found.warnings
    assert places(find("needle", size_limit=300)) == [("small.md", 1), ("big.md", 1)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_shifts_no_line_and_no_neighbour(
    find: Search, tmp_path: Path, encoding: str
) -> None:
    long = "记" * 3_000 + "needle" + "x" * 10
    put(tmp_path, "a.md", f"erst\nneedle 缓存\nletzt\n{long}\n".encode(encoding))
    first, second = find("needle", context=1).matches
    assert (first.text, first.before, first.after[0]) == ("needle 缓存", ("erst",), "letzt")
    assert second.line == 4 and "needle" in second.text


def test_a_line_that_is_no_utf8_behind_a_mark_is_found_still(find: Search, tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"\xef\xbb\xbfa\xff\xffb\nneedle \xff\n")
    assert [match.text for match in find("needle", context=0).matches] == ["needle \ufffd"]
