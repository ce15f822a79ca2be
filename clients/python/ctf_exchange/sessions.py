"""A session that renews itself: its token is refreshed in time, and where it has ended the wallet signs in again."""
from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

from .errors import ExchangeError
from .transport import Transport, persist
from .wallet import Signer

REFRESH_SECONDS_MAX = 8.0
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

    def sign_in(self) -> Session:
        with self._lock:
            return self._sign_in()

    def token(self, refused: Optional[str] = None) -> str:
        """An access token that is good for some time; never the one that was refused."""
        with self._lock:
            session = self.current
            if session is None:
                return self._sign_in().access_token
            left = session.expires_at - time.time()
            if left > MARGIN_SECONDS and session.access_token != refused:
                return session.access_token
            return self._refresh(session).access_token

    def sign_out(self) -> None:
        with self._lock:
            session, self.current = self.current, None
        if session is not None:
            self._transport.send("POST", "/auth/logout", token=session.access_token)

    def _keep(self, tokens: Mapping[str, Any], asked_at: float) -> Session:
        session = Session(
            tokens["accessToken"], tokens["refreshToken"], tokens["user"]["address"], asked_at + tokens["expiresIn"]
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
            asked_at = time.time()
            body = {"message": message, "signature": wallet.sign_message(message)}
            return self._keep(self._transport.send("POST", "/auth/verify", body=body), asked_at)

        return persist(attempt, lambda error: error.is_outcome_unknown, REFRESH_SECONDS_MAX)

    def _refresh(self, session: Session) -> Session:
        asked_at = time.time()
        body = {"refreshToken": session.refresh_token}

        def attempt() -> Any:
            return self._transport.send("POST", "/auth/refresh", body=body)

        try:
            tokens = persist(attempt, lambda error: error.is_outcome_unknown, REFRESH_SECONDS_MAX)
        except ExchangeError as error:
            if error.status != UNAUTHORIZED:
                raise
            # The session has ended; the wallet begins another one.
            self.current = None
            return self._sign_in()
        return self._keep(tokens, asked_at)
