// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Asks a contract wallet whether a signature is its own, without being deployed.
/// @notice `eth_call` without `to`, with the bytecode and the encoded arguments as data, answers
/// `abi.encode(bool isValid, bool hasCode)`; `hasCode` is about the wallet as it is on the chain.
/// The call must have a gas limit: the wallet's code may use all of it.
/// With `allowUndeployed`, a signature in the form of ERC-6492 names a factory, which is called to deploy or prepare the
/// wallet when it has no code or rejects the signature. `eth_call` changes nothing, so this needs no trust in the factory.
contract SignatureProbe {
    bytes32 private constant WRAPPED = 0x6492649264926492649264926492649264926492649264926492649264926492;
    bytes32 private constant VALID = bytes32(bytes4(0x1626ba7e));

    constructor(address wallet, bytes32 hash, bytes memory signature, bool allowUndeployed) {
        bool hasCode = wallet.code.length != 0;
        bool isWrapped = allowUndeployed && signature.length > 32 && _lastWord(signature) == WRAPPED;
        bool isValid;
        if (!isWrapped) {
            isValid = _accepts(wallet, hash, signature);
        } else {
            (address factory, bytes memory setup, bytes memory inner) = _unwrap(signature);
            isValid = _accepts(wallet, hash, inner);
            if (!isValid && _call(factory, setup)) isValid = _accepts(wallet, hash, inner);
        }
        bytes memory answer = abi.encode(isValid, hasCode);
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }

    function _lastWord(bytes memory signature) private pure returns (bytes32 word) {
        assembly ("memory-safe") {
            word := mload(add(signature, mload(signature)))
        }
    }

    /// Data that is not what ERC-6492 says makes the whole call fail, which is no valid signature either.
    function _unwrap(bytes memory signature) private pure returns (address, bytes memory, bytes memory) {
        assembly ("memory-safe") {
            mstore(signature, sub(mload(signature), 0x20))
        }
        return abi.decode(signature, (address, bytes, bytes));
    }

    function _call(address to, bytes memory data) private returns (bool isDone) {
        assembly ("memory-safe") {
            isDone := call(gas(), to, 0, add(data, 0x20), mload(data), 0, 0)
        }
    }

    /// ERC-1271: the wallet has code and answers with the magic value.
    function _accepts(address wallet, bytes32 hash, bytes memory signature) private view returns (bool) {
        bytes memory data = abi.encodeWithSelector(bytes4(VALID), hash, signature);
        bytes32 answer;
        assembly ("memory-safe") {
            mstore(0, 0)
            let answered := staticcall(gas(), wallet, add(data, 0x20), mload(data), 0, 0x20)
            if and(answered, gt(returndatasize(), 0x1f)) { answer := mload(0) }
        }
        return answer == VALID;
    }
}
