// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Roles} from "./Roles.sol";

/// @notice An order as its wallet signs it (EIP-712); amounts are in the smallest units of collateral and outcome tokens.
struct Order {
    /// Makes the order unique.
    uint256 salt;
    /// The wallet that pays and receives.
    address maker;
    /// The same address.
    address signer;
    /// The zero address: the order is open to any counterparty.
    address taker;
    /// The outcome token that is bought or sold.
    uint256 tokenId;
    /// The most that the order gives: collateral for a BUY, tokens for a SELL.
    uint256 makerAmount;
    /// The least that it gets for all of it: tokens for a BUY, collateral for a SELL.
    uint256 takerAmount;
    /// Seconds since 1970; the order cannot be filled from then on. 0 never expires.
    uint256 expiration;
    /// The order is valid while this is not below the wallet's nonce, and at most `NONCE_AHEAD_MAX` above it.
    uint256 nonce;
    /// Hundredths of a percent.
    uint256 feeRateBps;
    /// 0 BUY, 1 SELL.
    uint8 side;
    /// 0: ECDSA by the maker's own key. 3: ERC-1271, the maker is a contract.
    uint8 signatureType;
    bytes signature;
}

uint8 constant BUY = 0;
uint8 constant SELL = 1;
uint8 constant ECDSA_SIGNATURE = 0;
uint8 constant CONTRACT_SIGNATURE = 3;

/// @title Orders: their hashes, signatures, cancels and nonces.
/// @notice A cancel and a raised nonce take effect after `CANCEL_DELAY`, so that no wallet can withdraw from a match that
/// the exchange already made. A wallet that must be out at once revokes its approvals.
abstract contract Orders is EIP712, Roles {
    struct Status {
        /// What is left of `makerAmount`; it means something once the order is known.
        uint128 remaining;
        /// From this second on the order is cancelled; 0: it is not.
        uint64 cancelledAt;
        /// The order was filled in part, so its signature was valid.
        bool known;
        /// Fills the slot, so that a write need not read it first.
        uint56 unused;
    }

    struct Nonce {
        uint96 current;
        /// The highest nonce that the wallet asked for.
        uint96 next;
        /// From this second on `next` is the nonce; 0: nothing was raised.
        uint64 raisedAt;
    }

    /// @notice Seconds between a cancel or a raised nonce and its effect.
    uint256 public constant CANCEL_DELAY = 120;
    /// @notice The most by which an order's nonce, or a raised one, may be above the wallet's nonce: an order that survives every
    /// raise cannot be filled.
    uint256 public constant NONCE_AHEAD_MAX = 1_000_000;
    /// @notice Bytes of the longest signature.
    uint256 public constant SIGNATURE_MAX = 1024;
    /// @notice Gas for the contract wallet that is asked about a signature.
    uint256 public constant SIGNATURE_GAS = 300_000;
    uint256 private constant AMOUNT_MAX = type(uint120).max;
    uint256 internal constant FEE_RATE_MAX_BPS = 1000;

    bytes32 private constant ORDER_TYPEHASH = keccak256(
        "Order(uint256 salt,address maker,address signer,address taker,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint256 expiration,uint256 nonce,uint256 feeRateBps,uint8 side,uint8 signatureType)"
    );

    mapping(bytes32 orderHash => Status) private _status;
    mapping(address wallet => Nonce) private _nonces;

    /// @notice The order will be cancelled from `effectiveAt` (seconds) on; until then it can be filled.
    event CancelRequested(bytes32 indexed orderHash, address indexed maker, uint256 effectiveAt);
    /// @notice Orders of the wallet below `newNonce` will be void from `effectiveAt` (seconds) on; until then they can be filled.
    event NonceRaiseRequested(address indexed user, uint256 newNonce, uint256 effectiveAt);

    /// @notice The match cannot be settled because of this wallet. `why` is the selector of the error that says why.
    error Fault(address wallet, bytes4 why);
    /// @notice The order was filled completely, or its cancel is in effect.
    error OrderFilledOrCancelled();
    /// @notice The order's nonce is below that of its wallet; or the new nonce is not above the present one, or more than
    /// `NONCE_AHEAD_MAX` above it.
    error InvalidNonce();
    /// @notice The order's nonce is more than `NONCE_AHEAD_MAX` above the one that its wallet asked for last.
    error NonceTooHigh();
    /// @notice The signature is not the maker's, is too long, or has a type that does not exist.
    error InvalidSignature();
    /// @notice The order expired.
    error OrderExpired();
    /// @notice The order signs more than 1,000 hundredths of a percent.
    error FeeTooHigh();
    /// @notice The order names a counterparty.
    error NotTaker();
    /// @notice Only the maker can cancel an order.
    error NotOwner();
    /// @notice The fill is larger than what is left of the order.
    error MakingGtRemaining();
    /// @notice An amount is zero or above 2^120 - 1, or the side is neither 0 nor 1.
    error InvalidAmount();
    /// @notice A raised nonce has not taken effect yet.
    error NonceIsBeingRaised();
    /// @notice The transaction has too little gas left to judge a wallet fairly.
    error NotEnoughGas();

    constructor(string memory name) EIP712(name, "1") {}

    /// @notice The EIP-712 domain separator that orders are signed for.
    function domainSeparator() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// @notice The digest that the wallet signs, which names the order.
    function hashOrder(Order calldata order) public view returns (bytes32) {
        bytes32 typeHash = ORDER_TYPEHASH;
        bytes32 structHash;
        // The twelve signed members are the first twelve words of the order, each a word of its own.
        assembly ("memory-safe") {
            let data := mload(0x40)
            mstore(data, typeHash)
            calldatacopy(add(data, 0x20), order, 0x180)
            structHash := keccak256(data, 0x1a0)
        }
        return _hashTypedDataV4(structHash);
    }

    /// @notice True when the order can never be filled (again), and what is left of its `makerAmount`; 0 also before the
    /// first fill.
    function getOrderStatus(bytes32 orderHash) public view returns (bool isFilledOrCancelled, uint256 remaining) {
        Status memory status = _status[orderHash];
        return ((status.known && status.remaining == 0) || _isCancelled(status), status.remaining);
    }

    function orderStatus(bytes32 orderHash) external view returns (bool isFilledOrCancelled, uint256 remaining) {
        return getOrderStatus(orderHash);
    }

    /// @notice Seconds from which the order is cancelled; 0 when its maker did not cancel it.
    function cancelledAt(bytes32 orderHash) external view returns (uint256) {
        return _status[orderHash].cancelledAt;
    }

    /// @notice Orders of the wallet with a lower nonce are void.
    function minNonce(address wallet) public view returns (uint256) {
        return _minNonce(_nonces[wallet]);
    }

    function nonces(address wallet) external view returns (uint256) {
        return minNonce(wallet);
    }

    /// @notice True when an order of the wallet may have this nonce.
    function isValidNonce(address wallet, uint256 nonce) external view returns (bool) {
        Nonce memory own = _nonces[wallet];
        return nonce >= _minNonce(own) && nonce <= own.next + NONCE_AHEAD_MAX;
    }

    /// @notice The nonce that the wallet asked for, and the second from which it counts; both 0 when nothing is pending.
    function pendingNonce(address wallet) external view returns (uint256 next, uint256 effectiveAt) {
        Nonce storage nonce = _nonces[wallet];
        return nonce.raisedAt > block.timestamp ? (nonce.next, nonce.raisedAt) : (0, 0);
    }

    /// @notice Cancels an order of the caller after `CANCEL_DELAY`. An earlier cancel stays as it is.
    function cancelOrder(Order calldata order) external {
        _cancel(order);
    }

    function cancelOrders(Order[] calldata orders) external {
        for (uint256 i; i < orders.length; ++i) _cancel(orders[i]);
    }

    /// @notice Voids the caller's orders below `nonce` after `CANCEL_DELAY`. Only one raise is pending at a time.
    /// To void every order, raise it above the highest nonce that the wallet has signed.
    function raiseNonce(uint256 nonce) public {
        uint256 current = minNonce(msg.sender);
        if (nonce <= current || nonce > current + NONCE_AHEAD_MAX) revert InvalidNonce();
        if (_nonces[msg.sender].raisedAt > block.timestamp) revert NonceIsBeingRaised();
        uint256 effectiveAt = block.timestamp + CANCEL_DELAY;
        _nonces[msg.sender] = Nonce(uint96(current), uint96(nonce), uint64(effectiveAt));
        emit NonceRaiseRequested(msg.sender, nonce, effectiveAt);
    }

    /// @notice Raises the caller's nonce by one, after `CANCEL_DELAY`. Orders that the caller signed with a higher one stay valid.
    function incrementNonce() external {
        raiseNonce(minNonce(msg.sender) + 1);
    }

    /// @notice Reverts unless the signature is the maker's.
    function validateOrderSignature(bytes32 orderHash, Order calldata order) public view {
        bytes calldata signature = order.signature;
        address maker = order.maker;
        uint8 signatureType = order.signatureType;
        if (order.signer != maker || signature.length > SIGNATURE_MAX) revert InvalidSignature();
        if (signatureType == ECDSA_SIGNATURE) {
            (address signer,,) = ECDSA.tryRecoverCalldata(orderHash, signature);
            if (signer == address(0) || signer != maker) revert InvalidSignature();
        } else if (signatureType != CONTRACT_SIGNATURE) {
            revert InvalidSignature();
        } else if (!_isSignedByContract(maker, orderHash, signature)) {
            revert Fault(maker, InvalidSignature.selector);
        }
    }

    /// Books a fill of `making` and returns the order's hash. An order whose first fill was valid is not asked for its
    /// signature again, unless a contract signed it: its answer may have changed.
    function _spend(Order calldata order, uint256 making) internal returns (bytes32 orderHash) {
        _check(order);
        orderHash = hashOrder(order);
        Status memory status = _status[orderHash];
        if (_isCancelled(status)) revert Fault(order.maker, OrderFilledOrCancelled.selector);
        if (!status.known) {
            status.remaining = uint128(order.makerAmount);
            status.known = true;
            validateOrderSignature(orderHash, order);
        } else if (status.remaining == 0) {
            revert OrderFilledOrCancelled();
        } else if (order.signatureType == CONTRACT_SIGNATURE) {
            validateOrderSignature(orderHash, order);
        }
        if (making == 0) revert InvalidAmount();
        if (making > status.remaining) revert MakingGtRemaining();
        status.remaining -= uint128(making);
        _status[orderHash] = status;
    }

    /// The terms that need neither the order's hash nor its signature.
    function _check(Order calldata order) internal view {
        if (order.taker != address(0)) revert NotTaker();
        if (order.feeRateBps > FEE_RATE_MAX_BPS) revert FeeTooHigh();
        if (order.expiration != 0 && block.timestamp >= order.expiration) revert OrderExpired();
        if (order.side > SELL || order.makerAmount == 0 || order.takerAmount == 0) revert InvalidAmount();
        if (order.makerAmount > AMOUNT_MAX || order.takerAmount > AMOUNT_MAX) revert InvalidAmount();
        Nonce memory nonce = _nonces[order.maker];
        if (order.nonce < _minNonce(nonce)) revert Fault(order.maker, InvalidNonce.selector);
        if (order.nonce > nonce.next + NONCE_AHEAD_MAX) revert NonceTooHigh();
    }

    function _minNonce(Nonce memory nonce) private view returns (uint256) {
        return nonce.raisedAt != 0 && block.timestamp >= nonce.raisedAt ? nonce.next : nonce.current;
    }

    /// ERC-1271 with bounded gas, and without copying more than one word of the answer.
    function _isSignedByContract(address wallet, bytes32 orderHash, bytes calldata signature) private view returns (bool) {
        _requireGas(SIGNATURE_GAS);
        bytes memory data = abi.encodeWithSignature("isValidSignature(bytes32,bytes)", orderHash, signature);
        bytes32 answer;
        assembly ("memory-safe") {
            mstore(0, 0)
            let answered := staticcall(SIGNATURE_GAS, wallet, add(data, 0x20), mload(data), 0, 0x20)
            if and(answered, gt(returndatasize(), 0x1f)) { answer := mload(0) }
        }
        return answer == bytes32(bytes4(0x1626ba7e));
    }

    /// A call that gets less gas than its allowance could fail for that reason alone, and a wallet would be blamed for it.
    function _requireGas(uint256 allowance) internal view {
        if (gasleft() < allowance + allowance / 32 + 100_000) revert NotEnoughGas();
    }

    function _isCancelled(Status memory status) private view returns (bool) {
        return status.cancelledAt != 0 && block.timestamp >= status.cancelledAt;
    }

    function _cancel(Order calldata order) private {
        if (order.maker != msg.sender) revert NotOwner();
        bytes32 orderHash = hashOrder(order);
        Status storage status = _status[orderHash];
        if (status.cancelledAt != 0 || (status.known && status.remaining == 0)) return;
        uint256 effectiveAt = block.timestamp + CANCEL_DELAY;
        status.cancelledAt = uint64(effectiveAt);
        emit CancelRequested(orderHash, msg.sender, effectiveAt);
    }
}
