// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";

/// @notice The contracts that wallets are read at.
struct Contracts {
    address exchange;
    address collateral;
    address conditionalTokens;
}

/// @notice A token of a wallet, which is named by its place in the list of wallets.
struct Holding {
    uint256 wallet;
    uint256 tokenId;
}

struct Wallet {
    uint256 collateral;
    /// What the exchange may take of it.
    uint256 allowance;
    /// True when the exchange may take outcome tokens.
    bool isApproved;
    /// The lowest nonce of a valid order.
    uint256 nonce;
    /// The hash of the wallet's code; 0 without code.
    bytes32 codeHash;
}

interface INonces {
    function nonces(address wallet) external view returns (uint256);
}

/// @title Reads many wallets as of one block, without being deployed.
/// @notice `eth_call` without `to`, with the bytecode and the encoded arguments as data, answers
/// `abi.encode(uint256 blockNumber, bytes32 parentHash, Wallet[] wallets, uint256[] tokens)`.
/// Nodes limit the data to 49,152 bytes and the answer to 24,576: 160 bytes a wallet and 32 bytes a token, so 100 wallets
/// with two tokens each fit. A contract that does not answer makes the whole call fail.
contract WalletReader {
    constructor(Contracts memory contracts, address[] memory wallets, Holding[] memory holdings) {
        Wallet[] memory read = new Wallet[](wallets.length);
        for (uint256 i; i < wallets.length; ++i) {
            address wallet = wallets[i];
            read[i].collateral = IERC20(contracts.collateral).balanceOf(wallet);
            read[i].allowance = IERC20(contracts.collateral).allowance(wallet, contracts.exchange);
            read[i].isApproved = IERC1155(contracts.conditionalTokens).isApprovedForAll(wallet, contracts.exchange);
            read[i].nonce = INonces(contracts.exchange).nonces(wallet);
            if (wallet.code.length != 0) read[i].codeHash = wallet.codehash;
        }
        uint256[] memory tokens = new uint256[](holdings.length);
        for (uint256 i; i < holdings.length; ++i) {
            tokens[i] = IERC1155(contracts.conditionalTokens).balanceOf(wallets[holdings[i].wallet], holdings[i].tokenId);
        }
        bytes memory answer = abi.encode(block.number, blockhash(block.number - 1), read, tokens);
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }
}
