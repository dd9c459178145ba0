"""A note to edit, and texts that are awkward to write."""

from __future__ import annotations

import re

from hypothesis import strategies as st

BLOCK = """\
---
# do not touch the id
id: mem_01hx_sample
name: "Sample: memory"
description: 缓存层顺序的说明 😀 astral
{tags}status: 'active'   # reviewed

zeta: {{b: 1, a: [x, y]}}
date: 2026-05-14
---
# Title

正文 body text.
tags: nor this
"""


def note(tags: str = "tags:\n  - cache\n  - project/march-cli\n") -> bytes:
    return BLOCK.format(tags=tags).encode()


AWKWARD = """a: b|it's "q"|x #y|- d|{{t}}|🧠| lead|%p|`t`|注意: 半角|0123|C:\\dir|no|~|null|12:30|1_000|2026-05-14
|---|...|a\nb|\u2028|\ufeff|#x|a:|'|"|\\|!x|&x|*x|[x]|x, y|<<|=|.inf|0x1F|1e3|+1|-|?|true|Yes|OFF|0o17|1.|190:20:30"""


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    re.split(r"\n?\|", AWKWARD)
)
