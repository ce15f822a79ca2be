"""Hashes and signatures: eth-account's keys where it is installed, else those of `ecdsa`; both sign alike (RFC 6979)."""
from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Any, Callable, List, Mapping, Optional, Sequence, Union

from Cryptodome.Hash import keccak
from ecdsa import SECP256k1
from ecdsa.rfc6979 import generate_k

from . import checks
ORDER_TYPE = (
    "Order(uint256 salt,address maker,address signer,address taker,uint256 tokenId,uint256 makerAmount,"
    "uint256 takerAmount,uint256 expiration,uint256 nonce,uint256 feeRateBps,uint8 side,uint8 signatureType)"
)
MEMBERS = [part.split(" ")[1] for part in ORDER_TYPE[len("Order(") : -1].split(",")]
DOMAIN_TYPE = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
N = int(SECP256k1.order)


def keccak256(data: bytes) -> bytes:
    return bytes(keccak.new(digest_bits=256, data=data).digest())


SAFE_DOMAIN_HASH = keccak256(b"EIP712Domain(uint256 chainId,address verifyingContract)")
SAFE_MESSAGE_HASH = keccak256(b"SafeMessage(bytes message)")


def word(value: Union[int, str]) -> bytes:
    """A number or an address as 32 bytes."""
    return int(str(value), 0).to_bytes(32, "big")


def check_struct(order: Mapping[str, Any]) -> None:
    """Raises ValueError unless the order has the twelve members, each in the form in which the exchange reads it."""
    checks.members(order, "the order", MEMBERS, ("signature",))
    for name in MEMBERS:
        if name in ("maker", "signer", "taker"):
            checks.address(order[name], name)
        elif name in ("side", "signatureType"):
            checks.integer(order[name], name, 0, 1 if name == "side" else 255)
        else:
            digits = checks.text(order[name], name, checks.UINT, "a decimal string of digits")
            checks.integer(int(digits), name)


def domain_separator(domain: Mapping[str, Any]) -> bytes:
    checks.members(domain, "the domain", ("name", "version", "chainId", "verifyingContract"))
    for name in ("name", "version"):
        checks.name(domain[name], f"{name} of the domain")
    checks.integer(domain["chainId"], "chainId", 1)
    checks.address(domain["verifyingContract"], "verifyingContract")
    return keccak256(
        keccak256(DOMAIN_TYPE.encode())
        + keccak256(domain["name"].encode())
        + keccak256(domain["version"].encode())
        + word(domain["chainId"])
        + word(domain["verifyingContract"])
    )


def struct_hash(order: Mapping[str, Any]) -> bytes:
    check_struct(order)
    return keccak256(keccak256(ORDER_TYPE.encode()) + b"".join(word(order[name]) for name in MEMBERS))


def order_digest(domain: Mapping[str, Any], order: Mapping[str, Any]) -> bytes:
    """What the wallet signs, and the hash by which the exchange knows the order."""
    return keccak256(b"\x19\x01" + domain_separator(domain) + struct_hash(order))


def rlp(value: Union[int, bytes, Sequence[Union[int, bytes]]]) -> bytes:
    """Numbers, bytes and a list of them as Ethereum writes them."""
    if isinstance(value, int):
        return rlp(value.to_bytes((value.bit_length() + 7) // 8, "big"))
    if isinstance(value, bytes):
        return value if len(value) == 1 and value[0] < 0x80 else _rlp_head(0x80, len(value)) + value
    content = b"".join(rlp(part) for part in value)
    return _rlp_head(0xC0, len(content)) + content


def _rlp_head(offset: int, length: int) -> bytes:
    if length <= 55:
        return bytes([offset + length])
    size = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([offset + 55 + len(size)]) + size


def message_digest(text: str) -> bytes:
    """As `personal_sign` does."""
    checks.name(text, "the message")
    message = text.encode()
    return keccak256(b"\x19Ethereum Signed Message:\n" + str(len(message)).encode() + message)


def checksum_address(lower: str) -> str:
    """The EIP-55 spelling."""
    digits = lower.lower().replace("0x", "")
    marks = keccak256(digits.encode()).hex()
    return "0x" + "".join(c.upper() if int(mark, 16) > 7 else c for c, mark in zip(digits, marks))


class Signer:
    """Signs orders and sign-in messages for its address."""

    address: str
    #: 0: a key signs. 3: a contract at the address checks what is signed (EIP-1271).
    signature_type = 0

    def sign_digest(self, digest: bytes) -> str:
        raise NotImplementedError

    def sign_message(self, text: str) -> str:
        return self.sign_digest(message_digest(text))

    def sign_order(self, domain: Mapping[str, Any], order: Mapping[str, Any]) -> str:
        return self.sign_digest(order_digest(domain, order))


class ContractWallet(Signer):
    """A contract that checks signatures itself. `sign` turns a digest of 32 bytes into what the contract takes."""

    signature_type = 3

    def __init__(self, address: str, sign: Callable[[bytes], str]) -> None:
        if not callable(sign):
            raise checks.fail("sign", "callable", sign)
        self.address = checks.address(address, "address")
        self._sign = sign

    def sign_digest(self, digest: bytes) -> str:
        return self._sign(digest)


def safe_wallet(address: str, owners: Sequence[Wallet], chain_id: int) -> ContractWallet:
    """A Safe with its compatibility fallback handler; `owners` are as many as its threshold needs."""
    checks.integer(chain_id, "chain_id", 1)
    checks.address(address, "address")
    if not all(isinstance(owner, Wallet) for owner in checks.list_of(owners, "owners")):
        raise checks.fail("owners", "wallets", owners)
    domain = keccak256(SAFE_DOMAIN_HASH + word(chain_id) + word(address))

    def sign(digest: bytes) -> str:
        message = keccak256(b"\x19\x01" + domain + keccak256(SAFE_MESSAGE_HASH + keccak256(digest)))
        in_order = sorted(owners, key=lambda owner: int(owner.address, 16))
        return "0x" + "".join(owner.sign_digest(message)[2:] for owner in in_order)

    return ContractWallet(address, sign)


class Wallet(Signer):
    """A private key that signs orders and sign-in messages; without one, a new key."""

    def __init__(self, private_key: Optional[str] = None) -> None:
        self._key = 1 + secrets.randbelow(N - 1) if private_key is None else _key_of(private_key)
        point = SECP256k1.generator * self._key
        public = int(point.x()).to_bytes(32, "big") + int(point.y()).to_bytes(32, "big")
        self.address = checksum_address(keccak256(public)[12:].hex())

    @property
    def private_key(self) -> str:
        return "0x" + self._key.to_bytes(32, "big").hex()

    def sign_digest(self, digest: bytes) -> str:
        """65 bytes: r, s in the lower half, v 27 or 28."""
        if type(digest) is not bytes or len(digest) != 32:
            raise checks.fail("the digest", "32 bytes", digest)
        return str((_eth_keys_sign or _ecdsa_sign)(self._key, digest))

    def sign_transaction(
        self, *, chain_id: int, nonce: int, gas_price: int, gas_limit: int, to: str, data: str, value: int = 0
    ) -> str:
        """The bytes of a transaction of type 0, for one chain (EIP-155)."""
        checks.integer(chain_id, "chain_id", 1)
        for number, what in ((nonce, "nonce"), (gas_price, "gas_price"), (gas_limit, "gas_limit"), (value, "value")):
            checks.integer(number, what)
        checks.address(to, "to")
        checks.hex_data(data, "data")
        fields: List[Union[int, bytes]] = [nonce, gas_price, gas_limit]
        fields += [bytes.fromhex(to[2:]), value, bytes.fromhex(data[2:])]
        signature = bytes.fromhex(self.sign_digest(keccak256(rlp([*fields, chain_id, 0, 0])))[2:])
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
        return "0x" + rlp([*fields, signature[64] - 27 + 35 + 2 * chain_id, r, s]).hex()


def _key_of(private_key: str) -> int:
    # The text is a secret, so no error repeats it.
    if type(private_key) is str and checks.HASH.fullmatch(private_key if private_key[:2] == "0x" else f"0x{private_key}"):
        key = int(private_key, 16)
        if 0 < key < N:
            return key
    raise ValueError("the private key must be 32 bytes in hexadecimal, between 1 and the order of the curve")


def _ecdsa_sign(key: int, digest: bytes) -> str:
    k = int(generate_k(N, key, sha256, digest))
    point = SECP256k1.generator * k
    r, odd = int(point.x()) % N, int(point.y()) & 1
    s = pow(k, -1, N) * (int.from_bytes(digest, "big") + r * key) % N
    if s > N // 2:
        s, odd = N - s, 1 - odd
    return "0x" + (r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27 + odd])).hex()


def _load_eth_keys() -> Any:
    try:
        from eth_account import Account
    except ImportError:
        return None

    def sign(key: int, digest: bytes) -> str:
        unsafe = getattr(Account, "unsafe_sign_hash", None) or getattr(Account, "signHash")
        signature: bytes = unsafe(digest, key.to_bytes(32, "big")).signature
        return "0x" + bytes(signature).hex()

    return sign


_eth_keys_sign = _load_eth_keys()
