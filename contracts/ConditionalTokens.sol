// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";

/// @notice The functions of the Conditional Tokens Framework that the exchange contract calls.
interface IConditionalTokens is IERC1155 {
    function getOutcomeSlotCount(bytes32 conditionId) external view returns (uint256);

    function payoutDenominator(bytes32 conditionId) external view returns (uint256);

    function getCollectionId(bytes32 parent, bytes32 conditionId, uint256 indexSet) external view returns (bytes32);

    function getPositionId(address collateral, bytes32 collectionId) external pure returns (uint256);

    function splitPosition(
        address collateral,
        bytes32 parent,
        bytes32 conditionId,
        uint256[] calldata partition,
        uint256 amount
    ) external;

    function mergePositions(
        address collateral,
        bytes32 parent,
        bytes32 conditionId,
        uint256[] calldata partition,
        uint256 amount
    ) external;
}
