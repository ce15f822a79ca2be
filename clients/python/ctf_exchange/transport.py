"""One request, one answer; and the same request again where that is harmless."""
from __future__ import annotations

import time
from typing import Any, Callable, Dict, Mapping, Optional, TypeVar

import httpx

from .errors import ExchangeError

T = TypeVar("T")
PAUSE_SECONDS = 0.2
PAUSE_SECONDS_MAX = 2.0
#: Errors of a request of which nothing was sent.
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL)


class Transport:
    def __init__(self, base_url: str, timeout: float) -> None:
        self.base_url = base_url.rstrip("/")
        self._http = httpx.Client(base_url=self.base_url, timeout=timeout)

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        token: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Any:
        """The body of the answer; raises ExchangeError."""
        sent: Dict[str, str] = dict(headers or {})
        if token:
            sent["authorization"] = f"Bearer {token}"
        members = {name: str(value) for name, value in (query or {}).items() if value is not None}
        extra = {} if body is None else {"json": body}
        try:
            answer = self._http.request(method, path, params=members, headers=sent, **extra)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            what = str(error) or type(error).__name__
            if isinstance(error, NOT_SENT):
                raise ExchangeError("NETWORK", f"{method} {path} was not sent ({what})", was_sent=False) from error
            doubt = "" if method == "GET" else ": its outcome is unknown"
            raise ExchangeError("NETWORK", f"no answer to {method} {path} ({what}){doubt}") from error
        if answer.is_success:
            return _json_of(answer) if answer.content else None
        try:
            problem = answer.json()
        except ValueError:
            problem = {}
        raise error_of(answer.status_code, problem, answer.headers.get("retry-after", "0"))

    def close(self) -> None:
        self._http.close()


def _json_of(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError as error:
        raise ExchangeError("NETWORK", "the answer is no JSON") from error


def error_of(status: int, problem: Any, after: str) -> ExchangeError:
    """The error of an answer that is no success, by HTTP or over a socket."""
    if not isinstance(problem, dict):
        problem = {}
    return ExchangeError(
        str(problem.get("code", "NETWORK")),
        str(problem.get("detail", f"HTTP {status}")),
        status=status,
        problem=problem,
        retry_after=float(after) if after.isdigit() else 0.0,
    )


def persist(attempt: Callable[[], T], again: Callable[[ExchangeError], bool], seconds: float) -> T:
    """Tries again, with growing pauses and no sooner than Retry-After says, while `again` holds and time is left."""
    give_up = time.monotonic() + seconds
    pause = PAUSE_SECONDS
    while True:
        try:
            return attempt()
        except ExchangeError as error:
            wait = max(error.retry_after, pause)
            if not again(error) or time.monotonic() + wait > give_up:
                raise
            time.sleep(wait)
            pause = min(2 * pause, PAUSE_SECONDS_MAX)
