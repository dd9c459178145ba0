"""The first sentence of a body, without Markdown's marks and with everything that was said."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem.notes.prose import first_sentence


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("First of all. Then more.", "First of all."),
        ("先放稳定的。再放多变的。", "先放稳定的。"),
        ("Done? Yes.", "Done?"),
        ("no end", "no end"),
        ("a wrapped\nline of text\nends here. Next", "a wrapped line of text ends here."),
        ("a break  \nends it", "a break"),
        ("**When**: 3 June\n**Where**: Berlin", "When: 3 June"),
        ("__When:__ 3 June\n__Where:__ Berlin", "When: 3 June"),
        ("**Bold** begins\n**bold again** ends", "Bold begins bold again ends"),
        # numbers and dates are said, too
        ("3 retries are enough.", "3 retries are enough."),
        ("2026-05-14: deploy failed. Then.", "2026-05-14: deploy failed."),
        ("14.05.2026 – Ausfall. Mehr.", "14.05.2026 – Ausfall."),
        ("3. Juni 2026 war es soweit. Dann", "3. Juni 2026 war es soweit."),
        ("Am 3. Juni fiel es aus. Dann", "Am 3. Juni fiel es aus."),
        ("It fell in 2026. Then", "It fell in 2026."),
        ("1.2.3 is out. Then", "1.2.3 is out."),
        ("0.5 is the default. Why", "0.5 is the default."),
        ("+1 for it", "+1 for it"),
        ("#1 cause: a full disk.", "#1 cause: a full disk."),
        ("e.g. this one (z. B. so). Next", "e.g. this one (z. B. so)."),
        ('He said "no." Then', 'He said "no."'),
        # lists, tasks, quotes, callouts
        ("- one\n- two", "one"),
        ("1. one\n2. two", "one"),
        ("1) one", "one"),
        ("* 12 apples", "12 apples"),
        ("- [ ] to *do*", "to do"),
        ("- [x] done", "done"),
        ("> said\n> on", "said on"),
        ("> [!warning]- Careful\n> Never **restart** it. Ever", "Never restart it."),
        ("> [!note] Only a title", "Only a title"),
        # emphasis, code, links
        ("*a* **b** ***c*** ~~d~~ ==e== snake_case __f__", "a b c d e snake_case f"),
        ("x == 1 and a==b", "x == 1 and a==b"),
        ("`co*de` and ``a`b``", "co*de and a`b"),
        ("[text](http://x.y) <http://x.y>", "text http://x.y"),
        ("[[Note]] [[Note#Part]] [[a/Note|shown *so*]] `[[kept]]`", "Note Note Part shown *so* [[kept]]"),
        ("![[picture.png]]\n\n![alt](a.png)\n\ntext", "text"),
        ("text[^1] %%not this%%on ^block-1\n\n[^1]: foot", "text on"),
        ("a <b>b</b> &amp; \\*c\\*", "a b & *c*"),
        # what is no paragraph
        ("# Heading\n\n## 3 June\n\ntext", "text"),
        ("Title\n===\n\ntext", "text"),
        ("```\ncode\n```\n\n    code\n\ntext", "text"),
        ("| a | b |\n| - | - |\n| c | d |\n\ntext", "text"),
        ("---\nname: pdf-helper\n---\n\ntext", "text"),
        ("<div>\nhtml\n</div>\n\ntext", "text"),
        ("#project/x #area\n\ntext", "text"),
        ("***\n\n→ → →\n\ntext", "text"),
        ("# Only a heading", ""),
        ("[^1]: only a foot", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_first_sentence_is_what_a_reader_sees(body: str, sentence: str) -> None:
    assert first_sentence(body) == sentence


@given(st.text(st.sampled_from("ab1. \n*_`[]()!>#-|=%^~\\<&：。"), max_size=80))
def test_any_body_has_one_line_or_none(body: str) -> None:
    sentence = first_sentence(body)
    assert sentence == " ".join(sentence.split())
    assert not sentence or any(map(str.isalnum, sentence))


@pytest.mark.parametrize("mark", ["[", "[[", "![", "*", "_", "`", "==", "%%", "> ", "- ", "[a](", "<"])
def test_a_mib_of_marks_costs_little(mark: str) -> None:
    started = time.monotonic()
    first_sentence(mark * (1024 * 1024 // len(mark)))
    assert time.monotonic() - started < 10
