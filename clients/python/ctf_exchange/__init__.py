"""Client of the CTF exchange: calls, signed orders, live books. It knows nothing but the wire."""
from . import types
from .book import Book, BookView, checksum_of
from .client import Client
from .errors import ExchangeError
from .live import Live
from .orders import NewOrder, SubmitBody, build_order
from .sessions import Session, siwe_text
from .transactions import calls_of, send_calls
from .wallet import ContractWallet, Signer, Wallet, order_digest, safe_wallet

__all__ = [
    "Book",
    "BookView",
    "Client",
    "ContractWallet",
    "ExchangeError",
    "Live",
    "NewOrder",
    "Session",
    "Signer",
    "SubmitBody",
    "Wallet",
    "build_order",
    "calls_of",
    "checksum_of",
    "order_digest",
    "safe_wallet",
    "send_calls",
    "siwe_text",
    "types",
]
