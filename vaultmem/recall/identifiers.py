"""Exact identifiers: what a prompt names rather than describes, and which memory carries it. Pure.

Error codes, paths, flags, file names, versions, camelCase and snake_case names, and what stands in Chinese
quotation marks or backticks are written the same way by whoever means the same thing. A memory that carries
one which few memories carry is what the prompt is about, however the rest is worded. Shape decides, not
rarity alone: a common word never counts, nor does a short number by itself, nor a host name. Chinese names
have no shape; `rare_names` finds those that are long, rare here and foreign to everyday language.
"""

from __future__ import annotations

import errno
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from vaultmem.data.shipped import read_words
from vaultmem.embedding.calibration import calibration_texts
from vaultmem.recall import scoring
from vaultmem.text.folding import folded
from vaultmem.text.terms import CJK, WORD, query_terms, stop_words, terms

_SHORT = 3
_LONG = 500  # characters; the shapes below take time by the square of it, and nobody names what is longer
_GRAMMAR = "我你他她它们的了着过吗呢吧啊是不就都也很还说想要会能这那哪有没和与或在到去来个对从被把让给但而又再才只更最"
_PLAIN_RUN = re.compile(rf"(?:(?![{_GRAMMAR}])[\u3400-\u9fff])+")
_SHAPES = re.compile(
    r"""
      --[a-z][\w-]+                                     # --no-verify
    | (?:~|\.{1,2})?/[\w.@~+-]+(?:/[\w.@~+-]+)*         # /etc/hosts, ./run.sh, ~/.ssh/config
    | [a-z]:\\\S+                                       # c:\temp\x
    | [\w.@+-]+/[\w.@+-]+/[\w./@+-]+                    # src/app/main
    | [\w-]+/[\w-]+\.[a-z]\w{0,4}                       # app/main.py
    | [\w.+-]+@[\w-]+\.[\w.-]+                          # someone@example.org
    | \w+(?:::\w+)+                                     # std::vector
    | [a-z]\w*(?:_\w+)+                                 # max_retry, ERR_CONNECTION_REFUSED
    | _{1,2}[a-z]\w*                                    # __init__
    | 0x[0-9a-f]{3,}                                    # 0x80070005
    | (?=[a-z]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}      # 34963a2
    | [a-z]+-?[0-9]{3,}(?:-[0-9]+)*                     # E0502, ORA-00942, CVE-2024-3094
    | v[0-9]+(?:\.[0-9]+)+(?:-[\w.]+)?                  # v1.2
    | [0-9]+(?:\.[0-9]+){2,}(?:-[\w.]+)?                # 1.2.3
    | [0-9]{5,}                                         # 40029; see _is_round
    """,
    re.VERBOSE,
)
_FILE = re.compile(r"(?P<stem>[\w.-]*[a-z_][\w.-]*)\.(?P<end>[a-z][a-z0-9_]*)")
_LOWER_CAMEL = re.compile(r"[a-z]{2,}(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+){2,}")
_SYSTEM_NAMES = frozenset(errno.errorcode.values()) | {number.name for number in signal.Signals}
_CODED = re.compile(
    r"(?:error|errno|code|status|exit|signal|port|issue|ticket|http|错误|错误码|错误代码|状态码|返回码|退出码|端口|报错|代码)"
    r"\s{0,8}(?:code|number|no\.|码|号)?\s{0,8}[:：#=]?\s{0,8}(?P<number>[0-9]{3,4})(?![0-9])",
    re.IGNORECASE,
)
_PIECE = re.compile(
    rf"(?<![^\W{CJK}])(?<![/.@\\-])(?:--?|\.{{0,2}}/\.?|~/\.?|_)?{WORD}[^\s{CJK}\"'`,;()<>{{}}\[\]]*"
)
_QUOTED = re.compile(r"`([^`\n]{2,80})`|《([^》\n]{2,40})》|「([^」\n]{3,40})」|『([^』\n]{3,40})』")
_CALL = re.compile(r"(?<![\w.])([a-z][a-z0-9]{3,})\(\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name in a prompt and the terms that a memory must hold to carry it.

    A weak one (a bare number, a two-character title, a rare run of characters) may be in a memory by
    chance: it counts where the vectors do not speak against it.
    """

    text: str
    terms: tuple[str, ...]
    is_weak: bool = False
    most_carriers: int = scoring.MOST_CARRIERS

    def is_carried(self, held: Mapping[str, int]) -> bool:
        """A document that holds these terms (with their counts) carries the name."""
        return all(term in held for term in self.terms)

    def tells_apart(self, frequencies: Mapping[str, int], documents: int) -> bool:
        """Few enough of the documents can carry it."""
        carriers = min(frequencies.get(term, 0) for term in self.terms)
        return 0 < carriers <= max(1, min(self.most_carriers, int(scoring.CARRIER_SHARE * documents)))


def identifiers(text: str) -> tuple[Identifier, ...]:
    """The identifiers that a prompt names by their shape, in order, each once."""
    plain = folded(text)
    quoted = [next(filter(None, match)) for match in _QUOTED.findall(plain)]
    numbers = [match["number"] for match in _CODED.finditer(plain)]
    pieces = [piece for piece in map(_trimmed, _PIECE.findall(plain)) if is_identifier(piece)]
    calls = _CALL.findall(plain)
    named = [Identifier(name, _terms_of(name), len(name) < _SHORT) for name in quoted]
    named += [Identifier(name, _terms_of(name), name.isdigit()) for name in (*pieces, *calls, *numbers)]
    first: dict[tuple[str, ...], Identifier] = {}
    for name in named:
        first.setdefault(name.terms, name)
    return tuple(name for name in first.values() if name.terms)


def is_identifier(piece: str) -> bool:
    """The piece, without spaces, has the shape of an identifier."""
    folded = piece.lower()
    if not _SHORT <= len(folded) <= _LONG or folded in _everyday_names():
        return False
    if _LOWER_CAMEL.fullmatch(piece) or piece in _SYSTEM_NAMES:
        return True
    file = _FILE.fullmatch(folded)
    if file and "/" not in folded:
        return len(file["stem"]) > 1 and f".{file['end']}" not in _everyday_names()
    return _SHAPES.fullmatch(folded) is not None and not _is_round(folded)


def rare_names(text: str, frequencies: Mapping[str, int], documents: int) -> tuple[Identifier, ...]:
    """Chinese names that a prompt writes without a mark: runs of characters that few memories hold.

    Every pair of a run is rare in the vault and foreign to the shipped everyday texts, and no character of
    it is grammar. Each stretch of NAME_CHARS characters is a name of its own.
    """
    found: dict[tuple[str, ...], Identifier] = {}
    for run in _PLAIN_RUN.findall(folded(text)):
        for start in range(len(run) - scoring.NAME_CHARS + 1):
            name = run[start : start + scoring.NAME_CHARS]
            pairs = tuple(terms(name))
            if not _everyday_pairs().isdisjoint(pairs):
                continue
            counts = [frequencies.get(pair, 0) for pair in pairs]
            if min(counts) > 0 and max(counts) <= scoring.MOST_NAME_CARRIERS:
                found[pairs] = Identifier(name, pairs, True, scoring.MOST_NAME_CARRIERS)
    return tuple(name for name in found.values() if name.tells_apart(frequencies, documents))


@cache
def _everyday_names() -> frozenset[str]:
    return frozenset(read_words("everyday_names.txt"))


@cache
def _everyday_pairs() -> frozenset[str]:
    """Pairs of characters that the shipped texts are written with."""
    shipped = [line for texts in calibration_texts().values() for line in (*texts.prompts, *texts.passages)]
    shipped += [*read_words("off_topic.txt"), *read_words("small_talk.txt"), *stop_words()]
    return frozenset(
        pair for line in shipped for pair in terms(line) if len(pair) == 2 and not pair.isascii()
    )


def _is_round(folded: str) -> bool:
    return folded.endswith("000") and folded.isdigit()


def _trimmed(piece: str) -> str:
    return piece.rstrip(".:!?/。，、：！？*#=|").removesuffix("'s")


def _terms_of(name: str) -> tuple[str, ...]:
    """The whole of a name that is one term; else all terms of what was quoted, stop words aside."""
    found = terms(name)
    if found and len(found[0]) >= len(name.strip()) - 1:
        return (found[0],)
    return tuple(query_terms(name))
