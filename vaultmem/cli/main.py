"""The command line: words in, one engine call, an answer out. stdout carries data, stderr everything else.

Exit codes: 0 done · 1 the answer is no · 2 wrong usage or bad input · 3 the engine cannot work. Nothing heavy is
imported before a command needs it.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from vaultmem.cli.commands import COMMANDS
from vaultmem.cli.output import DONE, answer, answer_json_line, answering, complain, mute
from vaultmem.errors import UsageError, VaultmemError


def run(arguments: Sequence[str]) -> int:
    """Run one command; its exit code. Never lets a traceback out unless `--debug` asks for it."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    options = argparse.Namespace(debug=False, json=False)
    try:
        parse(arguments, options)
        code = int(options.run(options))
        _finish()
        return code
    except VaultmemError as error:
        if options.debug:
            raise
        return _fail(error, as_json=options.json or _asks_for_json(arguments))
    except BrokenPipeError:
        mute(sys.stdout)
        return DONE
    except Exception as error:
        if options.debug:
            raise
        unexpected = VaultmemError(
            f"something unexpected went wrong: {type(error).__name__}: {error}",
            advice="Run the command again with --debug and report what it prints.",
        )
        return _fail(unexpected, as_json=options.json)


def _fail(error: VaultmemError, *, as_json: bool) -> int:
    """Tell what went wrong; its exit code."""
    if as_json:
        _answer_with(error)
    complain(error)
    return error.exit_code


def _answer_with(error: VaultmemError) -> None:
    """The error as the one document, on one line: the events of `watch --json` are lines, too."""
    from vaultmem.text.shown import harmless

    told = {"message": harmless(str(error)), "advice": harmless(error.advice), "exit_code": error.exit_code}
    with contextlib.suppress(OSError, VaultmemError):  # stdout itself may be what is wrong
        answer_json_line({"error": told})


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """The words ask for JSON, also where they were not read as far as that."""
    return "--json" in itertools.takewhile(lambda word: word != "--", arguments)


def _finish() -> None:
    """What was printed and not yet written goes out now, while it can still be said that it does not."""
    with answering():
        sys.stdout.flush()


# --- words


class Parser(argparse.ArgumentParser):
    """argparse, with our way of saying that the words are wrong."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, advice=self.format_usage().strip())

    def _print_message(self, message: str, file: Any = None) -> None:
        answer(message, end="")  # help and version; argparse itself keeps quiet when they cannot be written


def parse(arguments: Sequence[str], options: argparse.Namespace) -> None:
    """Fill `options` from the words. Raises UsageError."""
    words = [_as_typed(word) for word in arguments]
    make_parser(command_in(words)).parse_args(words, options)


def _as_typed(word: str) -> str:
    """The word as UTF-8, also where the locale made Python read it as something else."""
    return os.fsencode(word).decode("utf-8", "surrogateescape")


def _global_flags() -> Parser:
    flags = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    group = flags.add_argument_group("everywhere")
    group.add_argument("--root", metavar="PATH", help="the memory root (default: from the settings)")
    group.add_argument("--state-dir", metavar="PATH", help="where the caches lie")
    group.add_argument(
        "--embed", metavar="ENGINE", dest="engine", help="auto, bundled, sentence-transformers or none"
    )
    group.add_argument("--json", action="store_true", help="print exactly one JSON document")
    group.add_argument("--debug", action="store_true", help="show tracebacks")
    return flags


def command_in(words: Sequence[str]) -> str | None:
    """The first word that is neither a flag nor a flag's value; None where the whole grammar is wanted."""
    rest = iter(words)
    for word in rest:
        if word in ("--root", "--state-dir", "--embed"):
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The whole grammar, or as much of it as the command `only` needs: making all of it takes 50 ms."""
    from vaultmem import __version__

    parser = Parser(
        prog="vaultmem",
        description="An AI agent's memories as Markdown in an Obsidian vault: synced, recalled, kept healthy.",
        parents=[_global_flags()],
    )
    parser.add_argument("--version", action="version", version=f"vaultmem {__version__}")
    parser.set_defaults(root=None, state_dir=None, engine=None, json=False)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in COMMANDS.items() if only not in COMMANDS else ((only, COMMANDS[only]),):
        # Flags of its own: shared ones would take the parser's defaults and undo what stood before the command.
        own = [_global_flags()]
        words = commands.add_parser(name, help=command.summary, description=command.summary, parents=own)
        command.words(words)
        words.set_defaults(run=command.run)
    return parser
