// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title Collateral for test networks, with 18 decimals. It is worth nothing: everyone can mint it.
contract TestCollateral is ERC20 {
    /// @notice The most that one call mints: a million.
    uint256 public constant MINT_MAX = 1_000_000e18;
    /// @notice The most that exists. Every balance stays far below what the ledger can count.
    uint256 public constant SUPPLY_MAX = 1_000_000_000e18;

    /// @notice This token must not exist where people might take it for money.
    error NotOnThisNetwork();
    /// @notice The amount is above `MINT_MAX`, or the supply would pass `SUPPLY_MAX`.
    error MintTooLarge();

    constructor() ERC20("Test Collateral", "TEST") {
        if (block.chainid == 1 || block.chainid == 56 || block.chainid == 137) revert NotOnThisNetwork();
    }

    /// @param amount In units of 10^-18.
    function mint(address to, uint256 amount) external {
        if (amount > MINT_MAX || totalSupply() + amount > SUPPLY_MAX) revert MintTooLarge();
        _mint(to, amount);
    }
}
