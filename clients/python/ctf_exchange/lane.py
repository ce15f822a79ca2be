"""Order messages: a private socket takes what the HTTP routes of orders take, and answers the same."""
from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import Any, Mapping, Optional, Protocol, Tuple

from .transport import error_of

#: The name and the payload of the message that does what a request does.
Message = Tuple[str, Mapping[str, Any]]
FIRST_REFUSAL = 400


class OrderSocket(Protocol):
    def ask(self, message: Message, token: str) -> Optional[Mapping[str, Any]]:
        """The acknowledgement; None when the connection is down or another wallet's. Raises ExchangeError."""


def answer_of(ack: Mapping[str, Any]) -> Any:
    """The body of an acknowledgement; raises the refusal in it, as HTTP does."""
    if ack["status"] < FIRST_REFUSAL:
        return ack["body"]
    raise error_of(ack["status"], ack["body"], str(ack.get("headers", {}).get("Retry-After", "0")))


def owner_of(token: str) -> str:
    """The wallet of an access token; an API key stands for itself."""
    try:
        claims = token.split(".")[1]
        return str(json.loads(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["sub"])
    except (IndexError, KeyError, TypeError, ValueError):
        return token
