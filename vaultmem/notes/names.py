"""File names and ids: what counts as a note, what looks like a sync tool's copy, what new notes are called."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from datetime import datetime

from vaultmem.text.folding import folded
from vaultmem.text.visible import letters

STEM_LIMIT_BYTES = 140  # date, slug and ".md" together; some encrypted disks allow 143
ID_SLUG_CHARS = 32
NAME_LIMIT_CHARS = 300  # of a new name; what a slug is made of in a longer one that a person wrote

_TEMPORARY = re.compile(
    r"~\$|~syncthing~", re.IGNORECASE
)  # locks of office programs, Syncthing's partial files
_CLOUD_STUB = re.compile(r"\.(.+\.md)\.icloud", re.IGNORECASE)

# What a sync tool calls a copy, in parentheses behind the name, in the languages that it speaks.
_COPY_WORDS = (
    r"conflict(?:ed)? copy|case conflict|SFConflict|NSConflict|Konfliktkopie|in Konflikt stehende Kopie"
    r"|copie en conflit|copia (?:en conflicto|in conflitto)|cópia em conflito|競合コピー|конфликтующая копия"
    r"|冲突(?:的)?(?:副本|文件)|衝突(?:的)?(?:複本|副本|檔案)"
)
# Names that only a tool writes: Syncthing; Dropbox, Nextcloud, Obsidian Sync, Seafile; pCloud; ownCloud; Synology;
# rclone; git, and its mergetool.
_CERTAIN_COPIES = (
    re.compile(r"(?P<stem>.+)\.sync-conflict-\d{8}-\d{6}(?:-\w+)?"),
    re.compile(rf"(?P<stem>.+?) ?[(（][^()（）]*(?:{_COPY_WORDS})[^()（）]*[)）]", re.IGNORECASE),
    re.compile(r"(?P<stem>.+?) ?\((?:[ck]onfli[ck]t(?= [^()]*\d)|conflicted\b)[^()]*\)", re.IGNORECASE),
    re.compile(r"(?P<stem>.+?) ?\[conflict(?:ed)?(?: \d+)?\]", re.IGNORECASE),
    re.compile(r"(?P<stem>.+)_conflict-\d{4}-?\d\d-?\d\d(?:[-_T ][\d:.-]+)?", re.IGNORECASE),
    re.compile(r"(?P<stem>.+?)_[\w-]+_[A-Z][a-z]{2}-\d\d-\d{6}-\d{4}_(?:Conflict|Konflikt)"),
    re.compile(r"(?P<stem>.+)(?:\.conflict\d+|\.\.path[12])"),
    re.compile(r"(?P<stem>.+?)(?:\.md)?~HEAD(?:_\d+)?"),
    re.compile(r"(?P<stem>.+)_(?:BACKUP|BASE|LOCAL|REMOTE)_\d+"),
)
# Names that a person may choose as well: a browser's "(1)", iCloud's " 2", a file manager's "copy", OneDrive's host,
# a branch behind git's "~", what editors and scripts leave beside a file.
_LIKELY_COPIES = (
    re.compile(r"(?P<stem>.+?) ?[(（]\d{1,3}[)）]"),
    re.compile(r"(?P<stem>.+) \d{1,3}"),
    re.compile(
        r"(?P<stem>.+?)(?: - copy| copy| - Kopie| Kopie| - 副本| 副本)(?: ?\(?\d{1,3}\)?)?", re.IGNORECASE
    ),
    re.compile(r"(?P<stem>.+?)-(?=[A-Z])[\w-]+"),
    re.compile(r"(?P<stem>.+?)(?:\.md)?~[\w.-]+"),
    re.compile(
        r"(?P<stem>.+?)(?:\.md)?[._-](?:orig|bak|backup|old|base|local|remote|ours|theirs|dup)", re.IGNORECASE
    ),
    re.compile(r"(?P<stem>.+?)(?:\.md)?[ ._-]+\(?(?:conflict|Konflikt)\b.*", re.IGNORECASE),
    re.compile(r"(?P<stem>.+?)(?:[ _-][^ _-]*)?的?(?:冲突|衝突)的?(?:副本|文件|複本|檔案).*"),
)


def is_note_name(name: str) -> bool:
    """Whether a file of this name counts as a note: `*.md` in any case, no hidden or temporary name."""
    return name[-3:].lower() == ".md" and name[0] != "." and not _TEMPORARY.match(name)


def is_skipped_folder(name: str) -> bool:
    """Whether a folder of this name is left out with all that is in it: every dot-folder is."""
    return name.startswith(".")


def placeholder_of(name: str) -> str | None:
    """The note name that a cloud stub (`.name.md.icloud`) stands for."""
    stub = _CLOUD_STUB.fullmatch(name)
    return stub.group(1) if stub and is_note_name(stub.group(1)) else None


def sync_copy_of(path: str, siblings: Collection[str] = ()) -> str | None:
    """The file name of the original when `path` looks like a sync tool's copy of it.

    Some patterns are certain (Syncthing, Dropbox, Nextcloud, Obsidian Sync, Seafile). Others are names that a
    person may choose as well ("plan 2.md", "plan-Work-Laptop.md"): they count only when the original is among
    `siblings`, the paths of the notes with the same id.
    """
    name = path.rsplit("/", 1)[-1]
    stem, suffix = name[:-3], name[-3:]
    for pattern in _CERTAIN_COPIES:
        if match := pattern.fullmatch(stem):
            return match["stem"] + suffix
    others = {sibling.rsplit("/", 1)[-1] for sibling in siblings}
    for pattern in _LIKELY_COPIES:
        if (match := pattern.fullmatch(stem)) and match["stem"] + suffix in others:
            return match["stem"] + suffix
    return None


def new_id(name: str, now: datetime) -> str:
    """Make an id: `mem_`, the first 10 characters of a lower-case ULID (its milliseconds), `_`, a short slug.

    Two notes of one name made in one millisecond get the same id: whoever saves looks whether it is taken.
    """
    from ulid import ULID

    slug = _slug(name, "_")[:ID_SLUG_CHARS].rstrip("_") or "note"
    return f"mem_{str(ULID.from_datetime(now))[:10].lower()}_{slug}"


def note_path(name: str, created: datetime) -> str:
    """`YYYY/MM/weekN/YYYY-MM-DD-slug.md` for a new note, by the date that `created` shows in its zone.

    The date in front keeps the name clear of names that some systems reserve (`con`, `nul`).
    """
    week = (created.day - 1) // 7 + 1
    date = f"{created:%Y-%m-%d}"
    room = STEM_LIMIT_BYTES - len(date) - len("-.md")
    slug = _cut(_slug(name, "-"), room).rstrip("-") or "note"
    return f"{created:%Y/%m}/week{week}/{date}-{slug}.md"


def _slug(name: str, joint: str) -> str:
    """Lower-case letters with their marks and digits of any script; what is seen between them is one `joint`."""
    plain = folded(name[:NAME_LIMIT_CHARS]).lower()
    return joint.join(letters(plain, gap=" ").split())


def _cut(text: str, limit_bytes: int) -> str:
    """Cut so that the UTF-8 form fits, never inside a character or between a letter and its marks."""
    if len(text.encode()) <= limit_bytes:
        return text
    cut = text.encode()[:limit_bytes].decode(errors="ignore")
    while cut and unicodedata.category(text[len(cut)])[0] == "M":
        cut = cut[:-1]
    return cut
