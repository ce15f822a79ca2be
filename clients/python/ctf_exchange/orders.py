"""Orders as they are signed: exact amounts in chain units."""
from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Dict, Literal, Mapping, Optional, Tuple, TypedDict, cast

from . import checks
from .amounts import PRICE_DECIMALS, parse
from .types import OrderType, Side, SignedOrder, Trading
from .wallet import check_struct

SelfTradePrevention = Literal["NONE", "CANCEL_TAKER", "CANCEL_MAKER", "CANCEL_BOTH"]

ZERO_ADDRESS = "0x" + "0" * 40
SIDES = ("BUY", "SELL")
ORDER_TYPES = ("GTC", "IOC", "FOK", "POST_ONLY", "MARKET")
SELF_TRADE_PREVENTIONS = ("NONE", "CANCEL_TAKER", "CANCEL_MAKER", "CANCEL_BOTH")
#: Types that never rest. What is left of one is cancelled by the exchange, but stays valid on the chain until it expires.
IMMEDIATE = ("IOC", "FOK", "MARKET")
IMMEDIATE_SECONDS = 300
#: The year 2001 in seconds: a smaller expiration is a duration, not a time.
EPOCH_SECONDS_MIN = 1_000_000_000
#: The year 2100, the latest expiration that the exchange takes.
EPOCH_SECONDS_MAX = 4_102_444_800
PRICE_ONE = 10**PRICE_DECIMALS


class _Body(TypedDict):
    order: SignedOrder


class SubmitBody(_Body, total=False):
    """The body of a submission: the signed order and what is not signed."""

    orderType: OrderType
    clientOrderId: str
    selfTradePrevention: SelfTradePrevention
    deadline: int


@dataclass(frozen=True)
class NewOrder:
    """An order to place. Amounts are decimal strings, prices in the order's own token.

    A MARKET BUY has a `budget`, the most that it spends, instead of a `size`; `price` is the worst that a MARKET order accepts.
    """

    outcome_index: int
    side: Side
    size: Optional[str] = None
    price: Optional[str] = None
    order_type: OrderType = "GTC"
    #: Epoch seconds; 0 is never, but IOC, FOK and MARKET then end 300 s ahead by the clock of the exchange.
    expiration: int = 0
    client_order_id: Optional[str] = None
    self_trade_prevention: Optional[SelfTradePrevention] = None
    #: Epoch milliseconds by the clock of the exchange: an order not booked by then is refused.
    deadline: Optional[int] = None
    budget: Optional[str] = None


def check_order(order: NewOrder, trading: Trading) -> None:
    """Raises ValueError on every value that no order of this market can have."""
    if not isinstance(order, NewOrder):
        raise checks.fail("the order", "a NewOrder", order)
    checks.choice(order.outcome_index, "outcome_index", (0, 1))
    checks.choice(order.side, "side", SIDES)
    checks.choice(order.order_type, "order_type", ORDER_TYPES)
    price = checks.positive(_given(order.price, "price"), PRICE_DECIMALS, "price")
    if price >= PRICE_ONE:
        raise checks.fail("price", "below 1", order.price)
    if _is_market_buy(order):
        if order.size is not None:
            raise ValueError(
                "a MARKET BUY has a budget and no size: it spends its budget, whatever that buys. To buy a size, use IOC or FOK"
            )
        checks.positive(_given(order.budget, "budget"), checks.FINEST, "budget")
    else:
        if order.budget is not None:
            raise ValueError("budget is for a MARKET BUY")
        size = checks.positive(_given(order.size, "size"), checks.FINEST, "size")
        limits = trading["limits"]
        if size % parse(limits["lotSize"], checks.FINEST, "lotSize"):
            raise checks.fail("size", f"a multiple of {limits['lotSize']}", order.size)
        if size > parse(limits["maxOrderSize"], checks.FINEST, "maxOrderSize"):
            raise checks.fail("size", f"at most {limits['maxOrderSize']}", order.size)
    if order.expiration != 0 or type(order.expiration) is not int:
        must = "epoch seconds, "
        checks.integer(order.expiration, f"expiration is in {must}and", EPOCH_SECONDS_MIN, EPOCH_SECONDS_MAX)
    if order.client_order_id is not None:
        checks.text(order.client_order_id, "client_order_id", checks.CLIENT_ORDER_ID, "1 to 64 of A-Z a-z 0-9 _ . : -")
    if order.self_trade_prevention is not None:
        checks.choice(order.self_trade_prevention, "self_trade_prevention", SELF_TRADE_PREVENTIONS)
    if order.deadline is not None:
        low, high = 1_000 * EPOCH_SECONDS_MIN, 1_000 * EPOCH_SECONDS_MAX
        checks.integer(order.deadline, "deadline is in epoch milliseconds, and", low, high)


def build_order(
    trading: Trading,
    maker: str,
    order: NewOrder,
    *,
    now: float,
    decimals: int = 18,
    nonce: int = 0,
    signature_type: int = 0,
    salt: Optional[int] = None,
) -> Dict[str, Any]:
    """The twelve members to sign. `trading` is the answer of GET /markets/{id}/trading, `now` the exchange's time in epoch seconds."""
    check_order(order, trading)
    checks.address(maker, "maker")
    checks.integer(decimals, "decimals", 0, checks.FINEST)
    checks.integer(nonce, "nonce")
    checks.choice(signature_type, "signature_type", (0, 3))
    tokens, collateral = _amounts_of(order, decimals)
    expiration = order.expiration
    if expiration == 0 and order.order_type in IMMEDIATE:
        expiration = int(now) + IMMEDIATE_SECONDS
    maker_amount, taker_amount = (collateral, tokens) if order.side == "BUY" else (tokens, collateral)
    return {
        "salt": str(secrets.randbits(128) if salt is None else checks.integer(salt, "salt")),
        "maker": maker,
        "signer": maker,
        "taker": ZERO_ADDRESS,
        "tokenId": trading["market"]["outcomes"][order.outcome_index]["tokenId"],
        "makerAmount": str(maker_amount),
        "takerAmount": str(taker_amount),
        "expiration": str(expiration),
        "nonce": str(nonce),
        "feeRateBps": str(trading["limits"]["feeRateBps"]),
        "side": 0 if order.side == "BUY" else 1,
        "signatureType": 0 if signature_type == 0 else 3,
    }


def _amounts_of(order: NewOrder, decimals: int) -> Tuple[int, int]:
    """Tokens and collateral, in chain units."""
    price = parse(order.price, PRICE_DECIMALS, "price")
    if _is_market_buy(order):
        collateral = checks.positive(order.budget, decimals, "budget")
        # Rounded down, so that the budget divided by it, rounded down to the tick, is the worst price again.
        return collateral * PRICE_ONE // price, collateral
    tokens = checks.positive(order.size, decimals, "size")
    collateral, rest = divmod(tokens * price, PRICE_ONE)
    if rest != 0:
        raise ValueError("price x size is finer than the collateral")
    return tokens, collateral


def _is_market_buy(order: NewOrder) -> bool:
    return order.order_type == "MARKET" and order.side == "BUY"


def _given(value: Optional[str], what: str) -> str:
    if value is None:
        raise ValueError(f"{what} is missing")
    return value


def check_body(body: Any) -> None:
    """Raises ValueError on what cannot be the body of a submission, for example after it was written to a file and read again."""
    checks.members(body, "the body", ("order",), ("orderType", "clientOrderId", "selfTradePrevention", "deadline"))
    check_struct(body["order"])
    checks.hex_data(body["order"].get("signature"), "signature")
    if "orderType" in body:
        checks.choice(body["orderType"], "orderType", ORDER_TYPES)
    if "selfTradePrevention" in body:
        checks.choice(body["selfTradePrevention"], "selfTradePrevention", SELF_TRADE_PREVENTIONS)
    if "clientOrderId" in body:
        checks.text(body["clientOrderId"], "clientOrderId", checks.CLIENT_ORDER_ID, "1 to 64 of A-Z a-z 0-9 _ . : -")
    if "deadline" in body:
        checks.integer(body["deadline"], "deadline")


def body_of(order: NewOrder, signed: Mapping[str, Any]) -> SubmitBody:
    body: SubmitBody = {"order": cast(SignedOrder, dict(signed)), "orderType": order.order_type}
    if order.client_order_id is not None:
        body["clientOrderId"] = order.client_order_id
    if order.self_trade_prevention is not None:
        body["selfTradePrevention"] = order.self_trade_prevention
    if order.deadline is not None:
        body["deadline"] = order.deadline
    return body
