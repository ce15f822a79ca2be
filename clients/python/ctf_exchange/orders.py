"""Orders as they are signed: exact amounts in chain units."""
from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional

from .amounts import PRICE_DECIMALS, parse

ZERO_ADDRESS = "0x" + "0" * 40


@dataclass(frozen=True)
class NewOrder:
    """An order to place. `price` and `size` are decimal strings, in the order's own token."""

    outcome_index: int
    side: str
    size: str
    price: str
    order_type: str = "GTC"
    #: Epoch seconds; 0 is never.
    expiration: int = 0
    client_order_id: Optional[str] = None
    self_trade_prevention: Optional[str] = None
    #: Epoch milliseconds: an order not booked by then is refused.
    deadline: Optional[int] = None


def build_order(
    trading: Mapping[str, Any],
    maker: str,
    order: NewOrder,
    *,
    decimals: int = 18,
    nonce: int = 0,
    signature_type: int = 0,
) -> Dict[str, Any]:
    """The twelve members to sign. `trading` is the answer of GET /markets/{id}/trading."""
    if order.side not in ("BUY", "SELL"):
        raise ValueError("side must be BUY or SELL")
    if order.outcome_index not in (0, 1):
        raise ValueError("outcome_index must be 0 (Yes) or 1 (No)")
    tokens = parse(order.size, decimals, "size")
    scaled = tokens * parse(order.price, PRICE_DECIMALS, "price")
    collateral, rest = divmod(scaled, 10**PRICE_DECIMALS)
    if rest != 0:
        raise ValueError("price x size is finer than the collateral")
    if tokens == 0 or collateral == 0:
        raise ValueError("price and size must be greater than zero")
    maker_amount, taker_amount = (collateral, tokens) if order.side == "BUY" else (tokens, collateral)
    return {
        "salt": str(secrets.randbits(128)),
        "maker": maker,
        "signer": maker,
        "taker": ZERO_ADDRESS,
        "tokenId": trading["market"]["outcomes"][order.outcome_index]["tokenId"],
        "makerAmount": str(maker_amount),
        "takerAmount": str(taker_amount),
        "expiration": str(order.expiration),
        "nonce": str(nonce),
        "feeRateBps": str(trading["limits"]["feeRateBps"]),
        "side": 0 if order.side == "BUY" else 1,
        "signatureType": signature_type,
    }


def body_of(order: NewOrder, signed: Mapping[str, Any]) -> Dict[str, Any]:
    """The body of a submission: the signed order and what is not signed."""
    body: Dict[str, Any] = {"order": dict(signed), "orderType": order.order_type}
    if order.client_order_id is not None:
        body["clientOrderId"] = order.client_order_id
    if order.self_trade_prevention is not None:
        body["selfTradePrevention"] = order.self_trade_prevention
    if order.deadline is not None:
        body["deadline"] = order.deadline
    return body
