"""The gate before the application: what passes, and that nothing else reaches it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vaultmem.mcp_server.bearer import BearerGate


async def ask(scope: dict[str, Any]) -> tuple[bool, list[dict[str, Any]]]:
    """Whether the application was reached, and what was sent."""
    reached, sent = [], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)

    async def receive() -> dict[str, Any]:
        raise AssertionError("nothing of the body is read before the token was shown")

    async def send(message: Any) -> None:
        sent.append(message)

    await BearerGate(app, "secret", Path("/state/mcp-token"))(scope, receive, send)
    return bool(reached), sent


def http(method: str = "POST", **headers: str) -> dict[str, Any]:
    pairs = [(key.encode(), value.encode()) for key, value in {"host": "127.0.0.1:1", **headers}.items()]
    return {"type": "http", "method": method, "path": "/mcp", "headers": pairs}


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS", "HEAD"])
async def test_every_method_needs_the_token(method: str) -> None:
    reached, sent = await ask(http(method))
    assert not reached and sent[0]["status"] == 401
    assert (await ask(http(method, authorization="Bearer secret")))[0]


async def test_two_tokens_are_none() -> None:
    scope = http(authorization="Bearer secret")
    scope["headers"].append((b"authorization", b"Bearer other"))
    assert not (await ask(scope))[0]


async def test_what_is_no_token_at_all_is_none() -> None:
    for text in ("Bearer sécret", "Bearer \x00", "Bearer secret secret", "secret", "Bearersecret"):
        assert not (await ask(http(authorization=text)))[0], text


async def test_the_applications_own_start_passes_and_a_web_socket_does_not() -> None:
    assert (await ask({"type": "lifespan"}))[0]
    assert not (await ask({"type": "websocket", "path": "/mcp", "headers": []}))[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:80", "LOCALHOST:1", "[::1]:5"])
async def test_this_machine_has_these_names(host: str) -> None:
    assert (await ask(http(host=host, authorization="Bearer secret")))[0]
    assert (await ask(http(host=host, origin=f"http://{host}", authorization="Bearer secret")))[0]


@pytest.mark.parametrize(
    "host", ["", "evil", "127.0.0.1.evil", "127.0.0.1:1@evil", "localhost:x", "127.0.0.2", "user@localhost:1"]
)
async def test_any_other_is_turned_away_before_the_token_is_asked_for(host: str) -> None:
    for headers in ({"host": host}, {"host": host, "authorization": "Bearer secret"}):
        reached, sent = await ask(http(**headers))
        assert not reached and sent[0]["status"] == 421
    for origin in (f"http://{host}", "null", "https://localhost", "file://"):
        reached, sent = await ask(http(origin=origin, authorization="Bearer secret"))
        assert not reached and sent[0]["status"] == 403
