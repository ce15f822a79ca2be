// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @notice Collateral that a test makes behave badly.
contract HostileCollateral is ERC20 {
    enum Mode {
        Usual,
        TakesFee,
        AnswersFalse,
        Reverts,
        AnswersNothing,
        RefusesZero,
        BurnsGas
    }

    Mode public mode;
    /// No transfer to this wallet succeeds.
    address public blocked;
    /// No transfer from this wallet succeeds.
    address public banned;

    constructor() ERC20("Hostile", "BAD") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function behave(Mode mode_, address blocked_) external {
        (mode, blocked) = (mode_, blocked_);
    }

    function ban(Mode mode_, address banned_) external {
        (mode, banned) = (mode_, banned_);
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        if (mode == Mode.AnswersFalse) return false;
        _transfer(msg.sender, to, amount);
        return _answer();
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        if (mode == Mode.AnswersFalse) return false;
        _spendAllowance(from, msg.sender, amount);
        _transfer(from, to, amount);
        return _answer();
    }

    function _answer() private view returns (bool) {
        if (mode != Mode.AnswersNothing) return true;
        assembly {
            return(0, 0)
        }
    }

    function _update(address from, address to, uint256 amount) internal override {
        require(mode != Mode.RefusesZero || amount != 0, "refused");
        for (uint256 i; mode == Mode.BurnsGas && i < 1000; ++i) totalSupply();
        require(mode != Mode.Reverts && (to != blocked || to == address(0)), "refused");
        require(from == address(0) || from != banned, "refused");
        super._update(from, to, amount);
        if (mode == Mode.TakesFee && from != address(0) && to != address(0)) super._update(to, address(0), amount / 100);
    }
}
