"""`vaultmem service`: the worker as a service of the user: a systemd user unit, or a launchd agent on macOS."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from vaultmem.errors import EngineError, UsageError
from vaultmem.install.invocation import command_words

if TYPE_CHECKING:
    from vaultmem.config import Config

ACTIONS = ("install", "uninstall", "status")
EXECUTE_TIMEOUT_S = 30

Execute = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True, slots=True)
class Service:
    """What a service manager is told: a file, and the commands that put it to work or take it away."""

    path: Path
    text: str
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    forget: tuple[tuple[str, ...], ...] = ()
    """After the file is gone."""


def run_service(
    action: str,
    config: Config,
    stdout: IO[str],
    *,
    dry_run: bool = False,
    platform: str = sys.platform,
    home: Path | None = None,
    execute: Execute | None = None,
) -> int:
    """Install, remove or look at the service; 1 from `status` when no worker answers.

    Raises:
        UsageError: there is no such action, or no service manager that is known here.
        EngineError: the service manager refused.
    """
    service = describe_service(config, platform, home or Path.home())
    run = execute or _execute
    if action == "status":
        return _status(service, config, stdout)
    if action == "install":
        return _install(service, stdout, dry_run, run)
    if action == "uninstall":
        return _uninstall(service, stdout, dry_run, run)
    raise UsageError(f"there is no `service {action}`", advice=f"There are: {', '.join(ACTIONS)}.")


def describe_service(config: Config, platform: str, home: Path) -> Service:
    """The service of this memory root; every root has one of its own. Raises UsageError."""
    words = command_words(config, "watch")
    if platform == "darwin":
        return _launchd(words, f"org.vaultmem.{config.state_dir.name}", config, home)
    if platform.startswith("linux"):
        return _systemd(words, f"vaultmem-{config.state_dir.name}.service", config, home)
    raise UsageError(
        f"no service manager is known for {platform}",
        advice=f"Start this at login: {shlex.join(words)}",
    )


def _systemd(words: list[str], name: str, config: Config, home: Path) -> Service:
    command = " ".join(_systemd_word(word) for word in words)
    text = f"""[Unit]
Description=vaultmem worker for {config.root.name.replace("%", "%%")}

[Service]
ExecStart={command}
Restart=on-failure
RestartSec=5
Nice=10
UMask=0077

[Install]
WantedBy=default.target
"""
    tell = ("systemctl", "--user")
    return Service(
        home / ".config" / "systemd" / "user" / name,
        text,
        start=((*tell, "daemon-reload"), (*tell, "enable", name), (*tell, "restart", name)),
        stop=((*tell, "disable", "--now", name),),
        forget=((*tell, "daemon-reload"),),
    )


def _systemd_word(word: str) -> str:
    """A word of ExecStart: quoted, with systemd's own `%` and `$` meant literally."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _launchd(words: list[str], label: str, config: Config, home: Path) -> Service:
    import plistlib

    path = home / "Library" / "LaunchAgents" / f"{label}.plist"
    agent = {
        "Label": label,
        "ProgramArguments": words,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
        "Umask": 0o077,
        "StandardErrorPath": str(config.state_dir / "worker.log"),
    }
    return Service(
        path,
        plistlib.dumps(agent).decode(),
        start=(("launchctl", "load", "-w", str(path)),),
        stop=(("launchctl", "unload", "-w", str(path)),),
    )


def _install(service: Service, stdout: IO[str], dry_run: bool, execute: Execute) -> int:
    if dry_run:
        stdout.write(f"# {service.path}\n{service.text}\n")
        stdout.writelines(f"{shlex.join(words)}\n" for words in service.start)
        return 0
    try:
        service.path.parent.mkdir(parents=True, exist_ok=True)
        service.path.write_text(service.text, encoding="utf-8")
    except OSError as error:
        raise EngineError(f"{service.path} cannot be written: {error.strerror or error}") from None
    _run_all(service.start, execute, f"{service.path} is written, but the service did not start")
    stdout.write(f"installed and started {service.path}\n")
    return 0


def _uninstall(service: Service, stdout: IO[str], dry_run: bool, execute: Execute) -> int:
    if dry_run:
        stdout.writelines(f"{shlex.join(words)}\n" for words in service.stop)
        stdout.write(f"rm {shlex.quote(str(service.path))}\n")
        return 0
    if not service.path.exists():
        stdout.write(f"there is no {service.path}\n")
        return 0
    _run_all(service.stop, execute, "the service did not stop; nothing was removed")
    service.path.unlink(missing_ok=True)
    _run_all(service.forget, execute, "the service is removed, but its manager complains")
    stdout.write(f"stopped and removed {service.path}\n")
    return 0


def _status(service: Service, config: Config, stdout: IO[str]) -> int:
    from vaultmem.worker.client import WorkerClient

    client = WorkerClient.connect(config)
    installed = "installed" if service.path.exists() else "not installed"
    state = f"a worker answers (pid {client.pid})" if client else "no worker answers"
    stdout.write(f"{installed} ({service.path}); {state} for {config.root}\n")
    return 0 if client else 1


def _run_all(commands: Sequence[Sequence[str]], execute: Execute, failure: str) -> None:
    for words in commands:
        try:
            done = execute(words)
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = str(error)
        else:
            reason = (done.stderr or done.stdout).strip() if done.returncode else ""
            if not done.returncode:
                continue
        raise EngineError(
            f"{failure}: `{shlex.join(words)}` failed: {reason}",
            advice="`vaultmem watch` in a terminal does the same work.",
        )


def _execute(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(words), capture_output=True, text=True, timeout=EXECUTE_TIMEOUT_S, check=False)
