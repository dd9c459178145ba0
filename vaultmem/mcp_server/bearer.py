"""Who may ask over HTTP: whoever shows the token that this user alone can read, from this machine, on no web page.

A browser on this machine can be made to send requests anywhere, under another name for this machine, too: such a
request names a foreign host or origin, and is turned away before the token is asked for. Plain ASGI.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, TypeAlias

from vaultmem.text.shown import harmless

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_THIS_MACHINE = re.compile(rb"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_CHALLENGE = b'Bearer realm="vaultmem"'


class BearerGate:
    """An application behind the token; nothing of a request's body is read before it was shown."""

    def __init__(self, app: Application, token: str, file: Path) -> None:
        self._app, self._token, self._file = app, token.encode(), file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":  # nothing here speaks anything else, such as web sockets
            refusal = self._refusal(scope["headers"])
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await _refuse(send, *refusal)

    def _refusal(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """The status and the words for a request that may not pass."""
        hosts, origins = _values(headers, b"host"), _values(headers, b"origin")
        if not (len(hosts) == 1 and _THIS_MACHINE.fullmatch(hosts[0])):
            return 421, "the Host of this request is not this machine"
        if not all(_is_of_this_machine(origin) for origin in origins):
            return 403, "the Origin of this request is not this machine"
        if not self._is_shown(_values(headers, b"authorization")):
            where = harmless(str(self._file))
            return 401, f"this server asks for the token in {where}: send it as `Authorization: Bearer TOKEN`"
        return None

    def _is_shown(self, headers: list[bytes]) -> bool:
        """The one header shows the token; how much of it is right cannot be told from the time this takes."""
        scheme, _, shown = (headers[0] if len(headers) == 1 else b"").partition(b" ")
        is_token = hmac.compare_digest(shown.strip(), self._token)
        return is_token and scheme.lower() == b"bearer"


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key.lower() == name]


def _is_of_this_machine(origin: bytes) -> bool:
    scheme, _, host = origin.partition(b"://")
    return scheme.lower() == b"http" and _THIS_MACHINE.fullmatch(host) is not None


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", _CHALLENGE))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
