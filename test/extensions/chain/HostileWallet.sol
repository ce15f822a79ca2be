// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";

/// @notice A wallet whose answers about signatures (ERC-1271) are as bad as its kind says. Everyone can execute calls with it.
contract HostileWallet is ERC1155Holder {
    enum Kind {
        /// Every signature is its own.
        Yes,
        /// Uses up all gas.
        Burner,
        /// Every signature is its own in even blocks, and none is in odd ones.
        Parity,
        /// Every signature is its own until `refuse(true)`.
        Fickle,
        /// Says yes to callers without code, such as a probe, and no to contracts, such as the exchange.
        TwoFaced,
        /// The magic value, with words after it.
        Extra,
        /// 31 bytes of the magic value.
        Short,
        /// Reverts with 100 kB.
        Loud,
        /// The magic value at the start of 1 MB.
        Long
    }

    Kind private immutable KIND;
    bytes32 private constant MAGIC = bytes32(bytes4(0x1626ba7e));

    bool private _refuses;

    constructor(Kind kind) {
        KIND = kind;
    }

    receive() external payable {}

    function refuse(bool refuses) external {
        _refuses = refuses;
    }

    function execute(address to, bytes calldata data) external {
        (bool isDone, bytes memory answer) = to.call(data);
        if (isDone) return;
        assembly ("memory-safe") {
            revert(add(answer, 0x20), mload(answer))
        }
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        if (KIND == Kind.Burner) {
            assembly ("memory-safe") {
                for {} 1 {} {}
            }
        }
        if (KIND == Kind.Loud) _end(false, 0, 100_000);
        if (KIND == Kind.Short) _end(true, MAGIC, 31);
        if (KIND == Kind.Extra) _end(true, MAGIC, 256);
        if (KIND == Kind.Long) _end(true, MAGIC, 1_000_000);
        bool isRefused = (KIND == Kind.Parity && block.number % 2 == 1) || (KIND == Kind.Fickle && _refuses)
            || (KIND == Kind.TwoFaced && msg.sender.code.length != 0);
        return isRefused ? bytes4(0) : bytes4(MAGIC);
    }

    function _end(bool isReturn, bytes32 first, uint256 length) private pure {
        assembly {
            mstore(0, first)
            if isReturn { return(0, length) }
            revert(0, length)
        }
    }
}
