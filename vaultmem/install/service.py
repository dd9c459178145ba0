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
    forget: tuple[tuple[str, ...], ...] = ()
    """After the file is gone."""
    leavings: tuple[Path, ...] = ()
    """What goes with the file, where it is there: links of the manager's, and files of earlier versions."""

    @property
    def present(self) -> tuple[Path, ...]:
        """What of it lies on the disk."""
        return tuple(path for path in (self.path, *self.leavings) if os.path.lexists(path))


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
        EngineError: the service manager refused, or a file cannot be written or removed.
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


def describe_service(config: Config, platform: str, home: Path, environ: Mapping[str, str]) -> Service:
    """The service of this memory root; every root has one of its own. Raises UsageError."""
    words = command_words(config, "watch")
    if platform == "darwin":
        return _launchd(words, f"org.vaultmem.{config.state_dir.name}", config, home)
    if platform.startswith("linux"):
        return _systemd(words, f"vaultmem-{config.state_dir.name}.service", config, home, environ)
    raise UsageError(
        f"no service manager is known for {platform}",
        advice=f"Start this at login: {shlex.join(words)}",
    )


def _systemd(words: list[str], name: str, config: Config, home: Path, environ: Mapping[str, str]) -> Service:
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
    settings = environ.get("XDG_CONFIG_HOME", "")
    bases = (*([Path(settings)] if settings.startswith("/") else ()), home / ".config")
    units = [base / "systemd" / "user" for base in bases]
    link = Path("default.target.wants", name)  # made by `enable`, and by nobody else
    return Service(
        units[0] / name,
        text,
        start=((*tell, "daemon-reload"), (*tell, "enable", name), (*tell, "restart", name)),
        stop=((*tell, "disable", "--now", name),),
        forget=((*tell, "daemon-reload"),),
        leavings=(units[0] / link, *(folder / each for folder in units[1:] for each in (name, link))),
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
    if refusal := _first_refusal(service.start, execute):
        raise EngineError(
            f"{service.path} is written, but the service did not start: {refusal}",
            advice="`vaultmem watch` in a terminal does the same work; `vaultmem service uninstall` removes the file.",
        )
    stdout.write(f"installed and started {service.path}\n")
    return 0


def _uninstall(service: Service, config: Config, stdout: IO[str], dry_run: bool, execute: Execute) -> int:
    if dry_run:
        stdout.writelines(f"{shlex.join(words)}\n" for words in service.stop)
        stdout.writelines(f"rm {shlex.quote(str(path))}\n" for path in service.present or (service.path,))
        return 0
    present = service.present
    if not present:
        stdout.write(f"there is no {service.path}\n")
        return 0
    # A manager that cannot be asked, as without a user bus, starts nothing either: the files go all the same.
    refusal = _first_refusal(service.stop, execute)
    try:
        for path in present:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise EngineError(f"{error.filename} cannot be removed: {error.strerror or error}") from None
    refusal = refusal or _first_refusal(service.forget, execute)
    stdout.write(f"{'removed' if refusal else 'stopped and removed'} {present[0]}\n")
    if refusal:
        _tell_refusal(refusal, config, stdout)
    return 0


def _tell_refusal(refusal: str, config: Config, stdout: IO[str]) -> None:
    """Say what the manager answered. Raises EngineError when a worker still answers."""
    from vaultmem.worker.client import WorkerClient

    client = WorkerClient.connect(config)
    if client is not None:
        raise EngineError(
            f"the service is removed, but a worker still answers (pid {client.pid}): {refusal}",
            advice=f"End it: kill {client.pid}",
        )
    stdout.write(f"{refusal}; no worker answers\n")


def _status(service: Service, config: Config, stdout: IO[str]) -> int:
    from vaultmem.worker.client import WorkerClient

    client = WorkerClient.connect(config)
    path = next((path for path in service.present if path.name == service.path.name), None)
    installed = "installed" if path else "not installed"
    state = f"a worker answers (pid {client.pid})" if client else "no worker answers"
    stdout.write(f"{installed} ({path or service.path}); {state} for {config.root}\n")
    return 0 if client else 1


def _first_refusal(commands: Sequence[Sequence[str]], execute: Execute) -> str:
    """Run the commands up to the first that fails, and why it did; empty when all are done."""
    for words in commands:
        try:
            done = execute(words)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"`{shlex.join(words)}` failed: {error}"
        if done.returncode:
            return f"`{shlex.join(words)}` failed: {(done.stderr or done.stdout).strip()}"
    return ""


def _execute(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(words), capture_output=True, text=True, timeout=EXECUTE_TIMEOUT_S, check=False)
