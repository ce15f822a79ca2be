"""Transactions that a wallet sends itself with funds on a chain: approvals, splits, merges."""
from __future__ import annotations

import time
from typing import Any, List, Mapping, Optional, Sequence

import httpx

from . import checks
from .errors import ExchangeError
from .wallet import Wallet

REQUEST_SECONDS_MAX = 10.0
BLOCK_SECONDS_MAX = 60.0
POLL_SECONDS = 0.25
GAS_MARGIN_PERCENT = 130


def calls_of(error: Exception) -> Optional[Sequence[Mapping[str, Any]]]:
    """The transactions that a refusal asks the wallet to send; None for every other error."""
    if not isinstance(error, ExchangeError) or error.code != "ON_CHAIN":
        return None
    calls = error.problem.get("calls")
    return calls if isinstance(calls, list) else None


def send_calls(
    rpc_url: str,
    chain_id: int,
    wallet: Wallet,
    calls: Sequence[Mapping[str, Any]],
    *,
    gas_price: Optional[int] = None,
) -> List[str]:
    """Sends one after the other; their hashes, when all are in blocks. Raises ValueError for the first that fails."""
    if not isinstance(wallet, Wallet):
        raise checks.fail("wallet", "a Wallet", wallet)
    checks.integer(chain_id, "chain_id", 1)
    if gas_price is not None:
        checks.integer(gas_price, "gas_price")
    if not isinstance(calls, (list, tuple)):
        raise checks.fail("calls", "a list", calls)
    # Every call is checked before the first one is signed.
    for call in calls:
        checks.members(call, "the call", ("to", "data"), ("description",))
        checks.address(call["to"], "to")
        checks.hex_data(call["data"], "data")
    with httpx.Client(timeout=REQUEST_SECONDS_MAX) as http:
        node = _Node(http, rpc_url)
        return [_send(node, chain_id, wallet, call, gas_price) for call in calls]


class _Node:
    def __init__(self, http: httpx.Client, url: str) -> None:
        self._http = http
        self._url = url

    def ask(self, method: str, *params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
        answer = self._http.post(self._url, json=body).json()
        if "error" in answer:
            raise ValueError(f"{method}: {answer['error'].get('message')}")
        return answer.get("result")

    def number(self, method: str, *params: Any) -> int:
        return int(self.ask(method, *params), 16)


def _send(node: _Node, chain_id: int, wallet: Wallet, call: Mapping[str, Any], gas_price: Optional[int]) -> str:
    to, data = call["to"], call["data"]
    gas = node.number("eth_estimateGas", {"from": wallet.address, "to": to, "data": data})
    signed = wallet.sign_transaction(
        chain_id=chain_id,
        nonce=node.number("eth_getTransactionCount", wallet.address, "pending"),
        gas_price=node.number("eth_gasPrice") if gas_price is None else gas_price,
        gas_limit=gas * GAS_MARGIN_PERCENT // 100,
        to=to,
        data=data,
    )
    tx_hash = str(node.ask("eth_sendRawTransaction", signed))
    _await_block(node, tx_hash)
    return tx_hash


def _await_block(node: _Node, tx_hash: str) -> None:
    give_up = time.monotonic() + BLOCK_SECONDS_MAX
    while time.monotonic() < give_up:
        receipt = node.ask("eth_getTransactionReceipt", tx_hash)
        if receipt and receipt["status"] == "0x1":
            return
        if receipt:
            raise ValueError(f"the chain refused the transaction {tx_hash}")
        time.sleep(POLL_SECONDS)
    raise ValueError(f"the transaction {tx_hash} is in no block after {BLOCK_SECONDS_MAX:.0f} s")
