// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Who may do what on the exchange contract.
/// @notice Admins give and take roles and end a pause. They are meant to be a multi-signature wallet behind a timelock.
/// Operators settle matches, and nothing else moves funds. Pausers stop trading and remove operators, which must not wait for a
/// timelock, and can undo neither.
/// No role can move the funds of a wallet against the orders that the wallet signed.
abstract contract Roles {
    /// @notice 1 for an admin, an operator or a pauser, else 0.
    mapping(address account => uint256) public admins;
    mapping(address account => uint256) public operators;
    mapping(address account => uint256) public pausers;
    /// @notice The admin who named an account as another admin, until that account accepts; zero for none.
    mapping(address account => address admin) public proposedAdmins;
    /// @notice True while no match can be settled. Cancels, raised nonces and claims work also then.
    bool public paused;
    uint256 private _adminCount;

    /// @notice The account is an admin once it accepts.
    event AdminProposed(address indexed proposedAdmin, address indexed admin);
    event NewAdmin(address indexed newAdminAddress, address indexed admin);
    event RemovedAdmin(address indexed removedAdmin, address indexed admin);
    event NewOperator(address indexed newOperatorAddress, address indexed admin);
    /// @notice `admin` may also be a pauser, or the operator itself.
    event RemovedOperator(address indexed removedOperator, address indexed admin);
    event NewPauser(address indexed newPauserAddress, address indexed admin);
    event RemovedPauser(address indexed removedPauser, address indexed admin);
    event TradingPaused(address indexed pauser);
    event TradingUnpaused(address indexed pauser);

    /// @notice The caller is no admin.
    error NotAdmin();
    /// @notice The caller is no operator.
    error NotOperator();
    /// @notice The caller is no pauser and no admin.
    error NotPauser();
    /// @notice The last admin cannot leave, because a pause could never end then.
    error LastAdmin();
    /// @notice No admin who is still one has named the caller.
    error NotProposed();
    /// @notice The address cannot be used here.
    error InvalidAddress();
    /// @notice Trading is paused.
    error Paused();

    modifier onlyAdmin() {
        if (admins[msg.sender] != 1) revert NotAdmin();
        _;
    }

    modifier onlyOperator() {
        if (operators[msg.sender] != 1) revert NotOperator();
        _;
    }

    modifier onlyPauserOrAdmin() {
        if (pausers[msg.sender] != 1 && admins[msg.sender] != 1) revert NotPauser();
        _;
    }

    modifier notPaused() {
        if (paused) revert Paused();
        _;
    }

    constructor(address admin) {
        _requireAddress(admin);
        _addAdmin(admin, msg.sender);
    }

    function isAdmin(address account) external view returns (bool) {
        return admins[account] == 1;
    }

    function isOperator(address account) public view returns (bool) {
        return operators[account] == 1;
    }

    function isPauser(address account) external view returns (bool) {
        return pausers[account] == 1;
    }

    /// @notice Names another admin. The role begins when the account accepts it, so that no address without a key gets it.
    function addAdmin(address account) external onlyAdmin {
        _requireAddress(account);
        proposedAdmins[account] = msg.sender;
        emit AdminProposed(account, msg.sender);
    }

    /// @notice Takes the role that an admin named the caller for. An admin who was removed names nobody any more.
    function acceptAdminRole() external {
        address admin = proposedAdmins[msg.sender];
        if (admins[admin] != 1) revert NotProposed();
        delete proposedAdmins[msg.sender];
        _addAdmin(msg.sender, admin);
    }

    /// @notice Takes the role from an admin, and from an account that did not accept it yet.
    function removeAdmin(address account) external onlyAdmin {
        _removeAdmin(account);
    }

    function renounceAdminRole() external onlyAdmin {
        _removeAdmin(msg.sender);
    }

    function addOperator(address account) external onlyAdmin {
        _requireAddress(account);
        operators[account] = 1;
        emit NewOperator(account, msg.sender);
    }

    function removeOperator(address account) external onlyPauserOrAdmin {
        operators[account] = 0;
        emit RemovedOperator(account, msg.sender);
    }

    function renounceOperatorRole() external onlyOperator {
        operators[msg.sender] = 0;
        emit RemovedOperator(msg.sender, msg.sender);
    }

    function addPauser(address account) external onlyAdmin {
        _requireAddress(account);
        pausers[account] = 1;
        emit NewPauser(account, msg.sender);
    }

    function removePauser(address account) external onlyAdmin {
        pausers[account] = 0;
        emit RemovedPauser(account, msg.sender);
    }

    /// @notice Stops `settle` and `matchOrders`.
    function pauseTrading() external onlyPauserOrAdmin {
        paused = true;
        emit TradingPaused(msg.sender);
    }

    function unpauseTrading() external onlyAdmin {
        paused = false;
        emit TradingUnpaused(msg.sender);
    }

    /// A signature that is no signature recovers to the zero address.
    function _requireAddress(address account) internal pure {
        if (account == address(0)) revert InvalidAddress();
    }

    function _addAdmin(address account, address admin) private {
        if (admins[account] == 0) _adminCount++;
        admins[account] = 1;
        emit NewAdmin(account, admin);
    }

    function _removeAdmin(address account) private {
        delete proposedAdmins[account];
        if (admins[account] == 1 && --_adminCount == 0) revert LastAdmin();
        admins[account] = 0;
        emit RemovedAdmin(account, msg.sender);
    }
}
