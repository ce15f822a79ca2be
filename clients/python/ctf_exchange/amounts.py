"""Decimal strings and chain units. Money is never a float."""
from __future__ import annotations

import re
from typing import Any

DECIMAL = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]+)?")
PRICE_DECIMALS = 4


def parse(text: Any, decimals: int, what: str) -> int:
    """`"0.62"` with 4 decimals is 6200. Raises ValueError on what is no amount, or finer than that."""
    if type(text) is not str or not DECIMAL.fullmatch(text):
        raise ValueError(f"{what} must be a decimal string such as \"0.62\", not {text!r}")
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    if len(fraction) > decimals:
        raise ValueError(f"{what} has more than {decimals} decimals")
    return int(whole + fraction.ljust(decimals, "0"))


def text_of(amount: int, decimals: int) -> str:
    """6200 with 4 decimals is `"0.62"`."""
    digits = str(amount).rjust(decimals + 1, "0")
    whole, fraction = digits[:-decimals], digits[-decimals:].rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole
