"""Texts of two subjects, and a question in the other language."""

from __future__ import annotations

CACHE = "高频变化层不能放在大块稳定上下文前面，否则前缀缓存不会命中。"


CACHE_QUESTION = "How do I keep the prompt prefix cache from missing?"


RIVER = "The river floods every spring, and the lower road is closed for a week."
