"""A session that renews itself: its token is refreshed in time, and where it has ended the wallet signs in again."""
from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

from .errors import ExchangeError
from .transport import Transport, persist
from .wallet import Signer

#: Longer than the time-out of one attempt, so that a sign-in or a refresh whose answer is lost is sent again.
ATTEMPTS_SECONDS_MAX = 25.0
#: The longest Retry-After that is waited for; the exchange counts sign-ins by the minute.
LIMIT_SECONDS_MAX = 60.0
TOO_MANY = 429
#: A token is renewed this long before it expires.
MARGIN_SECONDS = 30.0
UNAUTHORIZED = 401


@dataclass(frozen=True)
class Session:
    """All that is to be kept of a session; it is a secret."""

    access_token: str
    refresh_token: str
    address: str
    #: Epoch seconds.
    expires_at: float


def siwe_text(challenge: Mapping[str, Any]) -> str:
    """The EIP-4361 message of a challenge of GET /auth/nonce/{wallet_address}."""
    return "\n".join(
        [
            f"{challenge['domain']} wants you to sign in with your Ethereum account:",
            challenge["address"],
            "",
            challenge["statement"],
            "",
            f"URI: {challenge['uri']}",
            f"Version: {challenge['version']}",
            f"Chain ID: {challenge['chainId']}",
            f"Nonce: {challenge['nonce']}",
            f"Issued At: {challenge['issuedAt']}",
        ]
    )


class Sessions:
    def __init__(
        self, transport: Transport, wallet: Optional[Signer], on_session: Optional[Callable[[Optional[Session]], None]]
    ) -> None:
        self._transport = transport
        self._wallet = wallet
        self._on_session = on_session
        self._lock = threading.Lock()
        self.current: Optional[Session] = None
        #: By the monotonic clock, because the machine's clock may be set back.
        self._expires_at = 0.0

    def sign_in(self) -> Session:
        with self._lock:
            return self._sign_in()

    def token(self, refused: Optional[str] = None) -> str:
        """An access token that is good for some time; never the one that was refused. An error says that nothing else was sent."""
        with self._lock:
            try:
                return self._token(refused)
            except ExchangeError as error:
                error.was_sent = False
                raise

    def _token(self, refused: Optional[str]) -> str:
        session = self.current
        if session is None:
            return self._sign_in().access_token
        left = self._expires_at - time.monotonic()
        is_good = session.access_token != refused
        if is_good and left > MARGIN_SECONDS:
            return session.access_token
        try:
            return self._refresh(session).access_token
        except ExchangeError as error:
            # The old one is good for some seconds more.
            if is_good and left > 0 and error.is_worth_another:
                return session.access_token
            raise

    def sign_out(self, *, everywhere: bool = False) -> None:
        with self._lock:
            session, self.current = self.current, None
        if session is not None:
            self._transport.send("POST", "/auth/logout", body={"everywhere": True} if everywhere else None, token=session.access_token)

    def _keep(self, tokens: Mapping[str, Any], asked_at: float) -> Session:
        expires_in = float(tokens["expiresIn"])
        # The lifetime began no earlier than the request.
        self._expires_at = asked_at + expires_in
        session = Session(
            tokens["accessToken"],
            tokens["refreshToken"],
            tokens["user"]["address"],
            time.time() + self._expires_at - time.monotonic(),
        )
        self.current = session
        if self._on_session is not None:
            self._on_session(session)
        return session

    def _sign_in(self) -> Session:
        if self._wallet is None:
            raise ExchangeError("NOT_SIGNED_IN", "this client has no wallet to sign in with")
        wallet: Signer = self._wallet

        def attempt() -> Session:
            # A nonce can be used once, so another attempt needs another one.
            challenge = self._transport.send("GET", f"/auth/nonce/{wallet.address}")
            message = siwe_text(challenge)
            asked_at = time.monotonic()
            body = {"message": message, "signature": wallet.sign_message(message)}
            return self._keep(self._transport.send("POST", "/auth/verify", body=body), asked_at)

        return self._within_limits(attempt)

    def _refresh(self, session: Session) -> Session:
        body = {"refreshToken": session.refresh_token}

        def attempt() -> Session:
            asked_at = time.monotonic()
            return self._keep(self._transport.send("POST", "/auth/refresh", body=body), asked_at)

        try:
            return self._within_limits(attempt)
        except ExchangeError as error:
            if error.status != UNAUTHORIZED:
                raise
            # The session has ended; the wallet begins another one.
            self.current = None
            return self._sign_in()

    def _within_limits(self, attempt: Callable[[], Session]) -> Session:
        try:
            return persist(attempt, lambda error: error.is_worth_another, ATTEMPTS_SECONDS_MAX)
        except ExchangeError as error:
            if error.status != TOO_MANY or error.retry_after > LIMIT_SECONDS_MAX:
                raise
            time.sleep(error.retry_after)
            return persist(attempt, lambda error: error.is_worth_another, ATTEMPTS_SECONDS_MAX)
