"""The commands that change a note: `save`, `tag`, `deprecate`, `activate`, `adopt`. Words in, one engine call each."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from vaultmem.cli.input import Command, Options, Words, open_engine, read_text
from vaultmem.cli.output import DONE, answer, answer_json, narrate
from vaultmem.errors import UsageError
from vaultmem.text.shown import harmless


def save(options: Options) -> int:
    """A new memory, or new fields of an old one."""
    from vaultmem.cli import render_json

    body = read_text() if options.body == "-" else options.body
    with open_engine(options) as engine:
        saved = engine.save(
            id=options.id,
            name=options.name,
            description=options.description,
            tags=options.tag,
            body=body,
            dry_run=options.dry_run,
        )
    if options.json:
        answer_json(render_json.saved_json(saved))
    else:
        answer(f"{saved.memory.id} | {harmless(saved.memory.path)}\n{saved.diff}".rstrip("\n"))
        _say_dry(options)
        if saved.similar:
            narrate(f"says nearly the same as: {', '.join(saved.similar)}")
    return DONE


def _save_words(words: Words) -> None:
    words.add_argument("--id", help="change this memory; without it a new one is written")
    words.add_argument("--name", help="a short name")
    words.add_argument("--description", help="one sentence; it is what a hint shows")
    words.add_argument(
        "--tag", nargs="+", action="extend", metavar="T", help="tags; on a change they replace all"
    )
    words.add_argument("--body", metavar="TEXT", help="the text; - reads it from stdin")
    words.add_argument("--dry-run", action="store_true", help="print the diff, write nothing")


def tag(options: Options) -> int:
    """Edit the tags entry and nothing else."""
    if options.add is None and options.remove is None and options.set is None:
        raise UsageError("nothing to do", advice="Give --add, --remove or --set with one or more tags.")
    with open_engine(options) as engine:
        edited = engine.edit_tags(
            options.id,
            add=options.add or (),
            remove=options.remove or (),
            set=options.set,
            path=_path(options, engine.config.root),
            dry_run=options.dry_run,
        )
    return _show_edit(options, edited)


def _tag_words(words: Words) -> None:
    words.add_argument("id", metavar="ID")
    for flag, text in (
        ("--add", "add these tags"),
        ("--remove", "remove these"),
        ("--set", "have exactly these"),
    ):
        words.add_argument(flag, nargs="+", action="extend", metavar="T", help=text)
    _edit_words(words)


def _edit_words(words: Words) -> None:
    words.add_argument("--path", metavar="P", help="which note, when several have the id")
    words.add_argument("--dry-run", action="store_true", help="print the diff, write nothing")


def _status_command(name: str) -> Command:
    def run(options: Options) -> int:
        from vaultmem.notes.metadata import Status

        wanted = Status.DEPRECATED if name == "deprecate" else Status.ACTIVE
        with open_engine(options) as engine:
            edited = engine.set_status(
                options.id, wanted, path=_path(options, engine.config.root), dry_run=options.dry_run
            )
        return _show_edit(options, edited)

    def words(words: Words) -> None:
        words.add_argument("id", metavar="ID")
        _edit_words(words)

    summary = {"deprecate": "keep a memory, but hint it no more", "activate": "hint a memory again"}[name]
    return Command(summary, run, words)


def adopt(options: Options) -> int:
    """Give a note without an id, or a conflicting copy, a fresh one."""
    with open_engine(options) as engine:
        options.path = options.note
        path = _path(options, engine.config.root) or options.note
        edited = engine.adopt(path, dry_run=options.dry_run)
    return _show_edit(options, edited)


def _adopt_words(words: Words) -> None:
    words.add_argument("note", metavar="PATH", help="relative to the memory root")
    words.add_argument("--dry-run", action="store_true", help="print the diff, write nothing")


def _path(options: Options, root: Path) -> str | None:
    """The path as the catalog spells it; an absolute one, or one from here, is understood too."""
    if options.path is None:
        return None
    given = Path(options.path)
    for place in (given, Path.cwd() / given):
        with contextlib.suppress(ValueError):
            if place.is_absolute() and (given.is_absolute() or not (root / given).exists()):
                return place.resolve().relative_to(root.resolve()).as_posix()
    return given.as_posix()


def _show_edit(options: Options, edited: Any) -> int:
    from vaultmem.cli import render_json

    if options.json:
        answer_json(render_json.edited_json(edited))
    else:
        answer(edited.diff.rstrip("\n"))
        if not edited.changed:
            narrate(f"{edited.path} is already so")
        _say_dry(options)
    return DONE


def _say_dry(options: Options) -> None:
    if options.dry_run:
        narrate("dry run: nothing was written")


EDIT_COMMANDS: dict[str, Command] = {
    "save": Command("write a new memory, or change one", save, _save_words),
    "tag": Command("edit a memory's tags", tag, _tag_words),
    "deprecate": _status_command("deprecate"),
    "activate": _status_command("activate"),
    "adopt": Command("give a note without an id, or a copy, a fresh one", adopt, _adopt_words),
}
