"""Text search over the notes as they are on disk now: ripgrep, or Python where no `rg` is found.

What is searched is what a scan calls a note (see notes/names): no ignore file, no user configuration and no
symbolic link changes that. Output is read as NUL-separated records and not as `--json`, whose events
hold a matching line whole with every match in it: one 50 MB line would cost gigabytes. Here rg prints a
line up to `LINE_BYTES`, and only a longer one is looked up in its file.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, groupby, takewhile
from pathlib import Path
from typing import IO, cast

from vaultmem.errors import RootMissingError
from vaultmem.files.snapshot import reason_of
from vaultmem.files.vault import NOTE_LIMIT_BYTES
from vaultmem.search.fallback import search_by_python
from vaultmem.search.lines import (
    TEXT_CHARS,
    TOO_LONG,
    FoundLine,
    Hit,
    Matches,
    Pattern,
    Wanted,
    bad_expression,
    collect,
    excerpt,
    few,
)
from vaultmem.search.sources import Source, note_files, too_large

LINE_BYTES = 4000  # of a line, as rg prints it
HEAD_BYTES = 16_384  # of a longer line, to find where in it the match lies
LOOK_UP_BYTES = 1_048_576  # of one whose match lies further on
TIMED_OUT = 99  # no exit code of rg

_RECORD = re.compile(rb"(\d+)([:-])(\d+)[:-]")
_FOUND_AT = re.compile(rb"^(\d+):(\d+):(.*)$", re.MULTILINE)
_WORDY = re.compile(r" \(os error \d+\)$|(?<=: )IO error for operation on .*?: (?=[^:]*$)")
_CUT_MARK = b" [... omitted end of long line]"
_FLAGS = (
    "--no-config",
    "--no-ignore",
    "--no-follow",
    "--case-sensitive",
    "--no-mmap",  # a file that shrinks under a map kills the process
    "--text",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--null",
    "--line-number",
    "--byte-offset",
    "--no-context-separator",
    f"--max-columns={LINE_BYTES}",
    "--max-columns-preview",
    "--sortr=path",
    "--type-add=vaultnote:*.[mM][dD]",  # a --glob would also bring hidden files back
    "--type=vaultnote",
)


def _every_path(path: str) -> bool:
    return True


def search_files(
    root: Path,
    pattern: str,
    *,
    fixed: bool = False,
    limit: int = 20,
    context: int = 2,
    keep: Callable[[str], bool] = _every_path,
    size_limit: int = NOTE_LIMIT_BYTES,
    timeout_s: float = 10,
    rg: str | None = "auto",
) -> Matches:
    """Up to `limit` matching lines of the notes under `root` that `keep(path)` lets through.

    Paths come in falling order (the newest dated folder first), the lines of one in rising order. `rg`
    is the path of the program, "auto" to look for it, None for Python. Notes above `size_limit` bytes are left
    out, and that is among the warnings. Only lines are shown that lie in the file which is reached without
    following a link: rg walks each path anew, and somebody may have put a link on it. Raises UsageError for a pattern
    that is blank, has several lines or is no regular expression (in the program's own words),
    RootMissingError when the root is not a folder.
    """
    looked_for = Pattern.of(pattern, is_fixed=fixed)
    if not root.is_dir():
        raise RootMissingError(f"the memory root {root} is not a folder", advice="check --root")
    if not os.access(root, os.R_OK | os.X_OK):
        raise RootMissingError(f"the memory root {root} cannot be read", advice="check its permissions")
    if limit < 1:
        return Matches((), (), "none")
    wanted = Wanted(root, looked_for, limit, max(context, 0), keep, time.monotonic() + timeout_s, size_limit)
    program = find_rg() if rg == "auto" else rg
    if program is None:
        return search_by_python(wanted)
    try:
        return _search_by_ripgrep(program, wanted)
    except _NoRipgrepError as error:
        return search_by_python(wanted, f"{program} is not a ripgrep that can be used: {error}")


def find_rg() -> str | None:
    """The `rg` on PATH, else the one that a package put beside this Python, else None."""
    return shutil.which("rg") or shutil.which("rg", path=str(Path(sys.executable).parent))


# --- ripgrep


class _NoRipgrepError(Exception):
    """The program does not start, or does not know what every ripgrep knows."""


def _search_by_ripgrep(program: str, wanted: Wanted) -> Matches:
    bounds = [f"--context={wanted.context}", f"--max-filesize={wanted.size_limit}"]
    command = [program, *_FLAGS, *bounds, *_pattern_flags(wanted.pattern), "--", "./"]
    unproven: dict[str, str] = {}
    with tempfile.TemporaryFile() as errors:
        hits, code = _run(command, wanted, errors, unproven)
        errors.seek(0)
        warnings = _complaints(errors.read())
    warnings += [f"{path}: {reason}" for path, reason in unproven.items()]
    if len(hits) < wanted.limit:
        warnings += _left_out(wanted)
    if code == TIMED_OUT:
        warnings.insert(0, TOO_LONG)
    elif code == 2 and not hits:
        _demand_valid(program, wanted.pattern)
    elif code not in (0, 1, 2):
        raise _NoRipgrepError(f"it ended with {code}")
    texts = _texts(program, wanted, hits)
    return Matches(tuple(hit.match(text) for hit, text in zip(hits, texts, strict=True)), few(warnings), "rg")


def _pattern_flags(pattern: Pattern) -> list[str]:
    flags = ["--fixed-strings"] if pattern.is_fixed else ["--crlf"]
    return flags + [part for form in pattern.forms() for part in ("-e", form)]


def _left_out(wanted: Wanted) -> list[str]:
    """The notes that are larger than what is searched; rg passes them over in silence."""
    files = takewhile(lambda _: time.monotonic() < wanted.deadline, note_files(wanted.root, []))
    return [f"{each.path}: {too_large(wanted.size_limit)}" for each in files if each.size > wanted.size_limit]


def _run(
    command: Sequence[str], wanted: Wanted, errors: IO[bytes], unproven: dict[str, str]
) -> tuple[list[Hit], int]:
    """The hits and the exit code: 0 as well when it was stopped because enough was found, or `TIMED_OUT`."""
    is_late = threading.Event()

    def stop() -> None:
        is_late.set()
        process.kill()

    with _started(command, wanted.root, errors) as process:
        timer = threading.Timer(max(wanted.deadline - time.monotonic(), 0), stop)
        timer.start()
        try:
            lines = _proven(_printed(cast(IO[bytes], process.stdout)), wanted, unproven)
            hits = list(collect(lines, wanted))
            if len(hits) == wanted.limit:
                process.kill()
            code = process.wait()
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
    if len(hits) == wanted.limit:
        return hits, 0
    return hits, TIMED_OUT if is_late.is_set() else code


def _started(command: Sequence[str], folder: Path, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
        )
    except OSError as error:
        raise _NoRipgrepError(error.strerror or str(error)) from error


def _complaints(output: bytes) -> list[str]:
    """rg's lines of error as `path: reason`."""
    lines = output.decode("utf-8", "replace").splitlines()
    return [_WORDY.sub("", line.removeprefix("rg: ").removeprefix("./")) for line in lines if line.strip()]


def _demand_valid(program: str, pattern: Pattern) -> None:
    """After exit code 2 without a hit: raise when it is the program or the pattern that is wrong, not some file."""
    if _complains(program, [*_FLAGS, "-e", "x"]):
        raise _NoRipgrepError("it does not know the flags that are needed")
    flags = ["--fixed-strings"] if pattern.is_fixed else ["--crlf"]
    for form in (pattern.text, *pattern.forms()):  # first as it was typed: rg shows it in its words
        if words := _complains(program, ["--no-config", *flags, "-e", form]):
            raise bad_expression(words, "ripgrep")


def _complains(program: str, flags: Sequence[str]) -> str:
    """rg's words for an empty input, "" when it takes the flags."""
    command = [program, *flags, "--", "-"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    words = ended.stderr.decode("utf-8", "replace").strip().removeprefix("rg: ")
    return (words or "exit code 2") if ended.returncode == 2 else ""


def _printed(stream: IO[bytes]) -> Iterator[FoundLine]:
    """What rg prints: `path NUL line : offset : text` for a match, with `-` for `:` around it."""
    buffer, start = b"", 0
    while True:
        nul = buffer.find(b"\0", start)
        end = buffer.find(b"\n", nul + 1) if nul >= 0 else -1
        if end < 0:
            more = os.read(stream.fileno(), 262_144)
            if not more:
                return
            buffer, start = buffer[start:] + more, 0
            continue
        if head := _RECORD.match(buffer, nul + 1, end):
            path = os.fsdecode(buffer[start:nul]).removeprefix("./")
            raw = buffer[head.end() : end].removesuffix(b"\r")
            is_cut = len(raw) > LINE_BYTES and raw.endswith(_CUT_MARK)
            raw = raw.removesuffix(_CUT_MARK) if is_cut else raw
            text = raw.decode("utf-8", "replace")
            yield FoundLine(path, int(head[1]), head[2] == b":", text, int(head[3]), is_cut, raw)
        start = end + 1


def _proven(lines: Iterable[FoundLine], wanted: Wanted, unproven: dict[str, str]) -> Iterator[FoundLine]:
    """Those that lie in the file that we open; why one does not is kept by path in `unproven`."""
    for path, found in groupby(lines, key=lambda line: line.path):
        try:
            with contextlib.closing(Source(wanted.root, path, wanted.size_limit)) as source:
                for line in found:
                    if source.at(line.offset, len(line.raw)) == line.raw:
                        yield line
                    else:
                        unproven[path] = "it changed while it was searched: search again"
        except OSError as error:
            unproven[path] = f"not searched, {reason_of(error)}"


# --- where in a long line


def _texts(program: str, wanted: Wanted, hits: Sequence[Hit]) -> list[str]:
    """What is shown of each hit's line: all of a short one, else what is around its first match."""
    texts = [excerpt(hit.line.text, None) for hit in hits]
    long = [number for number, hit in enumerate(hits) if len(hit.line.text.rstrip("\r")) > TEXT_CHARS]
    heads = [_head(wanted, hits[number].line, HEAD_BYTES) for number in long]
    spans = _spans(program, wanted.pattern, heads)
    for number, head, span in zip(long, heads, spans, strict=True):
        if span is None and len(head) == HEAD_BYTES and time.monotonic() < wanted.deadline:
            head = _head(wanted, hits[number].line, LOOK_UP_BYTES)
            span = _spans(program, wanted.pattern, [head])[0]
        if span is not None:
            texts[number] = _around(head, span, is_cut=len(head) in (HEAD_BYTES, LOOK_UP_BYTES))
    return texts


def _around(head: bytes, span: tuple[int, int], *, is_cut: bool) -> str:
    start, end = (len(head[:place].decode("utf-8", "replace")) for place in span)
    shown = excerpt(head.decode("utf-8", "replace"), (start, end))
    return shown[: TEXT_CHARS - 1] + "…" if is_cut and not shown.endswith("…") else shown


def _head(wanted: Wanted, line: FoundLine, size: int) -> bytes:
    """A line's first `size` bytes, from its file when rg printed less."""
    if not line.is_cut:
        return line.raw
    try:
        with contextlib.closing(Source(wanted.root, line.path, wanted.size_limit)) as source:
            head = source.at(line.offset, size).split(b"\n", 1)[0]
    except OSError:
        return line.raw
    return head if head.startswith(line.raw) else line.raw


def _spans(program: str, pattern: Pattern, lines: Sequence[bytes]) -> list[tuple[int, int] | None]:
    """Ask rg where in each line its first match lies, in bytes: only rg knows its own dialect."""
    found: dict[int, tuple[int, int]] = {}
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    if lines:
        flags = [
            "--no-config",
            "--text",
            "--only-matching",
            "--line-number",
            "--byte-offset",
            "--color=never",
        ]
        command = [program, *flags, *_pattern_flags(pattern), "--", "-"]
        with tempfile.TemporaryFile() as given:
            given.write(b"\n".join(lines))
            given.seek(0)
            output = subprocess.run(command, stdin=given, capture_output=True, check=False).stdout
        for match in _FOUND_AT.finditer(output):
            number, start = int(match[1]) - 1, int(match[2])
            found.setdefault(number, (start - starts[number], start - starts[number] + len(match[3])))
    return [found.get(number) for number in range(len(lines))]
