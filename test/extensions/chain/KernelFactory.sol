// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

/// @notice Knows one owner of each wallet that installed it.
contract OwnerValidator {
    mapping(address wallet => address owner) public ecdsaValidatorStorage;

    function onInstall(bytes calldata owner) external {
        ecdsaValidatorStorage[msg.sender] = address(bytes20(owner));
    }

    function isValidSignatureWithSender(address, bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bool isSigned = _isSigned(hash, signature) || _isSigned(MessageHashUtils.toEthSignedMessageHash(hash), signature);
        return isSigned ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }

    function _isSigned(bytes32 hash, bytes calldata signature) private view returns (bool) {
        (address signer,,) = ECDSA.tryRecoverCalldata(hash, signature);
        return signer != address(0) && signer == ecdsaValidatorStorage[msg.sender];
    }
}

/// @notice The smallest wallet that signs as Kernel 3.1 does (ERC-7579), because no package on npm has Kernel's bytecode. The
/// names of functions, the EIP-712 domain, the wrapped hash and the first bytes of a signature are Kernel's; there is one
/// validator, no hook, no module and no entry point.
contract KernelWallet is EIP712, ERC1155Holder {
    bytes32 private constant WRAPPER_TYPEHASH = keccak256("Kernel(bytes32 hash)");
    bytes1 private constant ROOT = 0x00;
    bytes1 private constant VALIDATOR = 0x01;

    OwnerValidator private _validator;

    constructor() EIP712("Kernel", "0.3.1") {}

    receive() external payable {}

    /// @param rootValidator 1 and the address of the validator.
    function initialize(bytes21 rootValidator, address, bytes calldata validatorData, bytes calldata, bytes[] calldata)
        external
    {
        require(address(_validator) == address(0), "already initialized");
        require(rootValidator[0] == VALIDATOR, "no validator");
        _validator = OwnerValidator(address(uint160(uint168(rootValidator))));
        _validator.onInstall(validatorData);
    }

    /// @notice One call: 20 bytes of the address, 32 of the value, and the data.
    function execute(bytes32 mode, bytes calldata call_) external payable {
        require(msg.sender == _validator.ecdsaValidatorStorage(address(this)), "sender is not owner");
        require(mode == 0, "only single calls");
        (bool isDone, bytes memory answer) =
            address(bytes20(call_[:20])).call{value: uint256(bytes32(call_[20:52]))}(call_[52:]);
        if (isDone) return;
        assembly ("memory-safe") {
            revert(add(answer, 0x20), mload(answer))
        }
    }

    /// @notice ERC-1271. A signature begins with 0 for the root validator, or with 1 and the address of a validator.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        uint256 start = signature[0] == ROOT ? 1 : 21;
        bool isOurs = start == 1 || bytes21(signature) == bytes21(abi.encodePacked(VALIDATOR, _validator));
        require(isOurs, "another validator");
        bytes32 wrapped = _hashTypedDataV4(keccak256(abi.encode(WRAPPER_TYPEHASH, hash)));
        return _validator.isValidSignatureWithSender(msg.sender, wrapped, signature[start:]);
    }
}

/// @notice Makes wallets at addresses that are known before.
contract KernelFactory {
    address public immutable validator = address(new OwnerValidator());
    address public immutable implementation = address(new KernelWallet());

    /// @param data The call of `initialize`.
    function createAccount(bytes calldata data, bytes32 salt) external returns (address account) {
        account = getAddress(data, salt);
        if (account.code.length != 0) return account;
        Clones.cloneDeterministic(implementation, _saltOf(data, salt));
        (bool isDone,) = account.call(data);
        require(isDone, "not initialized");
    }

    function getAddress(bytes calldata data, bytes32 salt) public view returns (address) {
        return Clones.predictDeterministicAddress(implementation, _saltOf(data, salt));
    }

    function _saltOf(bytes calldata data, bytes32 salt) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(data, salt));
    }
}
