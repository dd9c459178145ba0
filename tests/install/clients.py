"""The clients' configuration before vaultmem comes, and what `vaultmem integrate` makes of it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from vaultmem.config import Config
from vaultmem.install.integrate import BACKUP_SUFFIX, run_integrate

SETTINGS = """{
    "model": "opus",
    "permissions": {"allow": ["Bash(ls:*)"],   "deny": []},
    "hooks": {
        "PostToolUse": [
            {
                "matcher": "Write|Edit",
                "hooks": [{"type": "command", "command": "ruff format"}]
            }
        ]
    }
}
"""


STATE = '{"numStartups":12,"projects":{"/p":{"mcpServers":{}}},"userID":"x"}'


CODEX = """# my settings
model = "gpt-5.4"   # keep

[mcp_servers.other]
command = "other"

[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "say done"
"""


def run(client: str, config: Config, home: Path, **options: Any) -> str:
    stdout = io.StringIO()
    assert run_integrate(client, config, stdout, environ={}, home=home, **options) == 0
    return stdout.getvalue()


def commands(settings: dict[str, Any], event: str) -> list[str]:
    return [hook["command"] for group in settings["hooks"].get(event, []) for hook in group["hooks"]]


def files(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.endswith(BACKUP_SUFFIX)
    }
