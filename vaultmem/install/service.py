"""`vaultmem service`: the worker as a service of the user: a systemd user unit, or a launchd agent on macOS."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
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
    ask: tuple[str, ...]
    """Succeeds wherever the manager can be reached, and changes nothing."""
    forget: tuple[tuple[str, ...], ...] = ()
    """After the file is gone."""
    others: tuple[Path, ...] = ()
    """What else an install may have left: the manager's own link, the file where earlier versions put it."""

    @property
    def left(self) -> tuple[Path, ...]:
        """What there is of it on this machine."""
        return tuple(path for path in (self.path, *self.others) if os.path.lexists(path))


def run_service(
    action: str,
    config: Config,
    stdout: IO[str],
    *,
    dry_run: bool = False,
    platform: str = sys.platform,
    home: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    execute: Execute | None = None,
) -> int:
    """Install, remove or look at the service; 1 from `status` when no worker answers.

    Raises:
        UsageError: there is no such action, or no service manager that is known here.
        EngineError: the service manager refused.
    """
    service = describe_service(config, platform, home or Path.home(), environ)
    run = execute or _execute
    if action == "status":
        return _status(service, config, stdout)
    if action == "install":
        return _install(service, stdout, dry_run, run)
    if action == "uninstall":
        return _uninstall(service, config, stdout, dry_run, run)
    raise UsageError(f"there is no `service {action}`", advice=f"There are: {', '.join(ACTIONS)}.")


def describe_service(
    config: Config, platform: str, home: Path, environ: Mapping[str, str] = os.environ
) -> Service:
    """The service of this memory root; every root has one of its own. Raises UsageError."""
    words = command_words(config, "watch")
    if platform == "darwin":
        return _launchd(words, f"org.vaultmem.{config.state_dir.name}", config, home)
    if platform.startswith("linux"):
        return _systemd(
            words, f"vaultmem-{config.state_dir.name}.service", config, _config_folders(home, environ)
        )
    raise UsageError(
        f"no service manager is known for {platform}",
        advice=f"Start this at login: {shlex.join(words)}",
    )


def _config_folders(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Where the user's settings lie, and where they would without a word about it in the environment."""
    named = Path(environ.get("XDG_CONFIG_HOME", ""))
    return list(dict.fromkeys([named if named.is_absolute() else home / ".config", home / ".config"]))


def _systemd(words: list[str], name: str, config: Config, folders: list[Path]) -> Service:
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
    places = [folder / "systemd" / "user" for folder in folders]
    links = [place / "default.target.wants" / name for place in places]
    return Service(
        places[0] / name,
        text,
        start=((*tell, "daemon-reload"), (*tell, "enable", name), (*tell, "restart", name)),
        stop=((*tell, "disable", "--now", name),),
        ask=(*tell, "show-environment"),
        forget=((*tell, "daemon-reload"),),
        others=(*(place / name for place in places[1:]), *links),
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
        ask=("launchctl", "list"),
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


def _uninstall(service: Service, config: Config, stdout: IO[str], dry_run: bool, execute: Execute) -> int:
    if dry_run:
        stdout.writelines(f"{shlex.join(words)}\n" for words in service.stop)
        stdout.writelines(f"rm {shlex.quote(str(path))}\n" for path in service.left or (service.path,))
        return 0
    if not service.left:
        stdout.write(f"there is no {service.path}\n")
        return 0
    removed = ", ".join(map(str, service.left))
    if (reason := _failure(service.ask, execute)) is not None:
        _remove(service)  # nobody there who could start it again, or be told
        stdout.write(f"removed {removed}; its manager cannot be told: {reason}\n{_still_running(config)}")
        return 0
    _run_all(service.stop, execute, "the service did not stop; nothing was removed")
    _remove(service)
    _run_all(service.forget, execute, "the service is removed, but its manager complains")
    stdout.write(f"stopped and removed {removed}\n")
    return 0


def _remove(service: Service) -> None:
    for path in service.left:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise EngineError(f"{path} cannot be removed: {error.strerror or error}") from None


def _still_running(config: Config) -> str:
    from vaultmem.worker.client import WorkerClient

    client = WorkerClient.connect(config)
    return f"a worker still runs (pid {client.pid}); `kill {client.pid}` ends it\n" if client else ""


def _status(service: Service, config: Config, stdout: IO[str]) -> int:
    from vaultmem.worker.client import WorkerClient

    client = WorkerClient.connect(config)
    installed = "installed" if service.left else "not installed"
    state = f"a worker answers (pid {client.pid})" if client else "no worker answers"
    stdout.write(f"{installed} ({(*service.left, service.path)[0]}); {state} for {config.root}\n")
    return 0 if client else 1


def _run_all(commands: Sequence[Sequence[str]], execute: Execute, failure: str) -> None:
    for words in commands:
        reason = _failure(words, execute)
        if reason is not None:
            raise EngineError(
                f"{failure}: `{shlex.join(words)}` failed: {reason}",
                advice="`vaultmem watch` in a terminal does the same work.",
            )


def _failure(words: Sequence[str], execute: Execute) -> str | None:
    """Why a command did not succeed, as far as it says; None when it did."""
    try:
        done = execute(words)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stderr or done.stdout).strip() if done.returncode else None


def _execute(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(words), capture_output=True, text=True, timeout=EXECUTE_TIMEOUT_S, check=False)
