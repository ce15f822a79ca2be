"""Strict input. Every value that is signed or sent is checked by these, before anything is signed; each raises ValueError."""
from __future__ import annotations

import re
from typing import Any, List, Mapping, Optional, Sequence

from .amounts import parse

HASH = re.compile(r"0x[0-9a-fA-F]{64}")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
HEX = re.compile(r"0x([0-9a-fA-F]{2})*")
UINT = re.compile(r"0|[1-9][0-9]*")
CLIENT_ORDER_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
PATH = re.compile(r"/[!-~]*")
#: Finer than any collateral, so that an amount can be checked before its decimals are known.
FINEST = 36
UINT256_MAX = 2**256 - 1


def fail(what: str, must: str, value: Any) -> ValueError:
    return ValueError(f"{what} must be {must}, not {value!r}")


def integer(value: Any, what: str, low: int = 0, high: int = UINT256_MAX) -> int:
    """An int in the range; True and 1.0 are none."""
    if type(value) is not int or not low <= value <= high:
        bound = f"at least {low}" if high == UINT256_MAX else f"between {low} and {high}"
        raise fail(what, f"an int {bound}", value)
    return value


def choice(value: Any, what: str, allowed: Sequence[Any]) -> Any:
    """One of the allowed values, in their type and their case."""
    if not any(type(value) is type(one) and value == one for one in allowed):
        raise fail(what, " or ".join(map(str, allowed)), value)
    return value


def text(value: Any, what: str, pattern: "re.Pattern[str]", must: str) -> str:
    if type(value) is not str or not pattern.fullmatch(value):
        raise fail(what, must, value)
    return value


def order_hash(value: Any, what: str = "the order hash") -> str:
    return text(value, what, HASH, "0x and 64 hexadecimal digits")


def address(value: Any, what: str) -> str:
    return text(value, what, ADDRESS, "0x and 40 hexadecimal digits")


def hex_data(value: Any, what: str) -> str:
    return text(value, what, HEX, "0x and pairs of hexadecimal digits")


def name(value: Any, what: str) -> str:
    """What stands in a path: an id, a slug or a hash."""
    if type(value) is not str or not value or value in (".", ".."):
        raise fail(what, "a string that is not empty", value)
    return value


def positive(value: Any, decimals: int, what: str) -> int:
    """A decimal string above zero, in units of 10^-decimals."""
    amount = parse(value, decimals, what)
    if amount == 0:
        raise ValueError(f"{what} must be greater than zero")
    return amount


def members(value: Any, what: str, required: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, Any]:
    """A mapping with these members and no others."""
    if not isinstance(value, Mapping):
        raise fail(what, "a mapping", value)
    for member in value:
        if member not in required and member not in optional:
            raise ValueError(f"{member!r} is no member of {what}, which has {', '.join([*required, *optional])}")
    for member in required:
        if member not in value:
            raise ValueError(f"{what} has no {member}")
    return value


def list_of(value: Any, what: str, most: Optional[int] = None) -> List[Any]:
    """A list that is not empty; a string is none."""
    if not isinstance(value, (list, tuple)) or not value or (most is not None and len(value) > most):
        raise fail(what, "a list that is not empty" if most is None else f"a list of 1 to {most}", value)
    return list(value)
