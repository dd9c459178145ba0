"""The commands of the agent's side: `mcp`, `hook`, `integrate`, `service`, `profile`. Words in, one call each."""

from __future__ import annotations

import argparse
import sys

from vaultmem.cli.input import Command, Options, Words, config_of
from vaultmem.cli.output import gathered
from vaultmem.clients import GENERIC, Client


def mcp(options: Options) -> int:
    """The MCP server, until its client goes away."""
    from vaultmem.mcp_server.server import run_mcp

    return run_mcp(config_of(options), http_port=options.http)


def _mcp_words(words: Words) -> None:
    words.add_argument(
        "--http",
        type=_port,
        metavar="PORT",
        help="streamable HTTP on this machine instead of stdio (0: any free port)",
    )


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else -1
    if not 0 <= port <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return port


def hook(options: Options) -> int:
    """One hook event, with flags before the command; without, `__main__` takes the shortcut."""
    from vaultmem.hooks.entry import run_hook

    places = {"--root": options.root, "--state-dir": options.state_dir}
    return run_hook([options.client, *(f"{flag}={value}" for flag, value in places.items() if value)])


def _hook_words(words: Words) -> None:
    words.add_argument("client", metavar="CLIENT", help=" or ".join(Client))


def integrate(options: Options) -> int:
    """Write, print or take out a client's configuration."""
    from vaultmem.install.integrate import run_integrate

    with gathered() as said:
        return run_integrate(
            options.client, config_of(options), said, remove=options.remove, dry_run=options.dry_run
        )


def _integrate_words(words: Words) -> None:
    words.add_argument("client", choices=(*map(str, Client), GENERIC), help="generic prints only")
    words.add_argument("--remove", action="store_true", help="take out what was written")
    words.add_argument("--dry-run", action="store_true", help="print the differences, write nothing")


def service(options: Options) -> int:
    """The worker as a service of the user."""
    from vaultmem.install.service import run_service

    with gathered() as said:
        return run_service(options.action, config_of(options), said, dry_run=options.dry_run)


def _service_words(words: Words) -> None:
    words.add_argument("action", choices=("install", "uninstall", "status"))
    words.add_argument("--dry-run", action="store_true", help="print what would be written and run")


def profile(options: Options) -> int:
    """Both profiles, made from a template where they are missing."""
    from vaultmem.hooks.profiles import run_profile

    with gathered() as said:
        return run_profile(config_of(options), said, sys.stderr, as_json=options.json)


AGENT_COMMANDS: dict[str, Command] = {
    "mcp": Command("the tools for agents, over MCP (stdio, or HTTP on this machine)", mcp, _mcp_words),
    "hook": Command("answer one hook event of an agent's client (JSON on stdin)", hook, _hook_words),
    "integrate": Command(
        "connect an agent's client: claude-code, codex, generic", integrate, _integrate_words
    ),
    "service": Command("run the worker at login: install, uninstall, status", service, _service_words),
    "profile": Command("show the profiles that agents read at a session's start", profile),
}
