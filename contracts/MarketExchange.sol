// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IConditionalTokens} from "./ConditionalTokens.sol";
import {BUY, Order, Orders} from "./Orders.sol";
import {Roles} from "./Roles.sol";

/// @notice One match of a taker with its makers.
struct Match {
    /// market (64 bits) | part (8 bits) | sequence (48 bits). A match with the same id is settled once.
    uint256 id;
    Order taker;
    Order[] makers;
    /// What the taker's order loses of its `makerAmount`. It pays what is due, which may be less.
    uint256 takerFill;
    /// What each maker gives.
    uint256[] makerFills;
}

/// @title The exchange contract: settles matches of signed orders for outcome tokens of the Conditional Tokens Framework.
/// @notice Wallets keep their funds and approve this contract: the collateral to buy, the conditional tokens to sell.
/// Amounts are in the smallest units; collateral and outcome tokens have the same decimals. A fill moves exact amounts:
/// what an order gets is its own ratio of what it gives, or better, and a fill that would have to be rounded is refused.
/// Asset ids are 0 for the collateral, else the id of an outcome token.
contract MarketExchange is Orders, ERC1155Holder, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// An order of a match with its amounts.
    struct Leg {
        address wallet;
        bool isAlike;
        uint256 making;
        uint256 taking;
        uint256 fee;
        /// What the taker pays for this fill.
        uint256 takerFee;
    }

    /// The market of a match and what the match moves, from the taker's point of view.
    struct Sums {
        uint256 complement;
        bytes32 conditionId;
        /// Paid to and received from makers on the other side, without a split or merge.
        uint256 pays;
        uint256 gets;
        /// Full sets to split (BUY) or merge (SELL) with makers on the same side, and the taker's part of it.
        uint256 sets;
        uint256 alikePays;
        uint256 alikeGets;
        /// The taker's fees: of all fills, and of those with makers on the same side.
        uint256 takerFees;
        uint256 alikeTakerFees;
    }

    struct Registered {
        uint256 complement;
        bytes32 conditionId;
    }

    /// @notice Gas for the delivery of one asset to a wallet, whose contract may be called with most of it.
    uint256 public constant DELIVERY_GAS = 120_000;
    /// Gas to report one match, and the least with which it is worth to begin one.
    uint256 private constant REPORT_GAS = 10_000;
    uint256 private constant MATCH_GAS_MIN = 300_000;
    bytes32 public constant parentCollectionId = bytes32(0);
    uint256 private constant COLLATERAL = 0;
    uint256 private constant BPS = 10_000;

    IERC20 private immutable _collateral;
    IConditionalTokens private immutable _ctf;

    /// @notice Receives all fees.
    address public feeReceiver;
    /// @notice The complement and the condition of each registered token.
    mapping(uint256 token => Registered) public registry;
    /// @notice What a wallet could not receive, by asset. `claim` pays it.
    mapping(address wallet => mapping(uint256 asset => uint256)) public owed;
    mapping(uint256 word => uint256) private _settled;

    event OrderFilled(
        bytes32 indexed orderHash,
        address indexed maker,
        address indexed taker,
        uint256 makerAssetId,
        uint256 takerAssetId,
        uint256 makerAmountFilled,
        uint256 takerAmountFilled,
        uint256 fee
    );
    event OrdersMatched(
        bytes32 indexed takerOrderHash,
        address indexed takerOrderMaker,
        uint256 makerAssetId,
        uint256 takerAssetId,
        uint256 makerAmountFilled,
        uint256 takerAmountFilled
    );
    /// @notice A part of a match's fees: the receiver has it, or is owed it (`Held`).
    event FeeCharged(address indexed receiver, uint256 tokenId, uint256 amount);
    event TokenRegistered(uint256 indexed token0, uint256 indexed token1, bytes32 indexed conditionId);
    event FeeReceiverChanged(address indexed receiver, address indexed admin);
    /// @notice The match was settled in this transaction. `callHash` is the hash of the call of `settleOne` with the match, so the
    /// event says which orders and amounts were settled under this id.
    event MatchSettled(uint256 indexed id, bytes32 callHash);
    /// @notice The match was settled before; nothing moved.
    event Done(uint256 indexed id);
    /// @notice The match was not settled. `reason` is the data of the error: `Fault` blames a wallet, any other error is the
    /// operator's, and empty data means that the match used up its gas or that its encoding is malformed.
    event MatchFailed(uint256 indexed id, bytes reason);
    /// @notice The wallet could not receive an asset; the contract keeps it for the wallet.
    event Held(address indexed wallet, uint256 indexed asset, uint256 amount);
    event Claimed(address indexed wallet, uint256 indexed asset, address to, uint256 amount);

    /// @notice The maker's price does not meet the taker's, or the taker would pay more than its fill.
    error NotCrossing();
    /// @notice The taker would get less for its fill than it signed.
    error TooLittleTokensReceived();
    /// @notice The order of a taker that sells would lose more than is sold.
    error FillNotSold();
    /// @notice Orders on the same side must be for the two tokens of a market, orders on different sides for the same token.
    error MismatchedTokenIds();
    /// @notice A fill would have to be rounded.
    error NotWhole();
    /// @notice There is no maker, or not one fill for each.
    error WrongLengths();
    /// @notice The token is not registered, or not a token of the condition.
    error InvalidTokenId();
    /// @notice The tokens are not the two tokens of a market.
    error InvalidComplement();
    error AlreadyRegistered();
    /// @notice The condition of the token has been paid out.
    error ConditionResolved();
    /// @notice Only the contract itself may call this.
    error NotSelf();
    /// @notice A match with this id was settled.
    error AlreadySettled();
    /// @notice In the answer of `settle`: the match failed without a reason.
    error NoReason();
    /// @notice Nothing is owed.
    error NothingOwed();
    /// @notice The asset could not be delivered.
    error DeliveryFailed();
    /// @notice The collateral moved another amount than was asked for.
    error CollateralNotExact();
    /// @notice Reasons in a `Fault`: the wallet has too little collateral, ...
    error NotEnoughCollateral();
    /// @notice ... approved too little of it, ...
    error NotEnoughAllowance();
    /// @notice ... has too few outcome tokens, ...
    error NotEnoughTokens();
    /// @notice ... did not approve this contract for outcome tokens, ...
    error NotApproved();
    /// @notice ... or the token contract refused the transfer for a reason of its own.
    error TransferRefused();

    /// @param name The name of the EIP-712 domain.
    /// @param collateral An ERC-20 that moves exact amounts and calls no wallets.
    constructor(string memory name, address collateral, address conditionalTokens, address admin, address receiver)
        Orders(name)
        Roles(admin)
    {
        if (collateral.code.length == 0 || conditionalTokens.code.length == 0) revert InvalidAddress();
        _collateral = IERC20(collateral);
        _ctf = IConditionalTokens(conditionalTokens);
        _setFeeReceiver(receiver);
        _collateral.forceApprove(conditionalTokens, type(uint256).max);
    }

    function getCollateral() external view returns (address) {
        return address(_collateral);
    }

    function getCtf() external view returns (address) {
        return address(_ctf);
    }

    /// @notice The highest fee rate that an order may sign, in hundredths of a percent.
    function getMaxFeeRate() external pure returns (uint256) {
        return FEE_RATE_MAX_BPS;
    }

    function getConditionId(uint256 token) external view returns (bytes32) {
        return registry[token].conditionId;
    }

    function getComplement(uint256 token) public view returns (uint256) {
        validateTokenId(token);
        return registry[token].complement;
    }

    function validateTokenId(uint256 token) public view {
        if (registry[token].complement == 0) revert InvalidTokenId();
    }

    function validateComplement(uint256 token, uint256 complement) external view {
        if (getComplement(token) != complement) revert InvalidComplement();
    }

    /// @notice True when a match with this id was settled.
    function isSettled(uint256 id) public view returns (bool) {
        return _settled[id >> 8] & (1 << (id & 0xff)) != 0;
    }

    function setFeeReceiver(address receiver) external onlyAdmin {
        _setFeeReceiver(receiver);
    }

    /// @notice Makes the two tokens of a condition tradable. Everybody may, because the ids are checked: they must be the positions
    /// of index sets 1 and 2 of a prepared condition with two outcomes, over the collateral.
    function registerToken(uint256 token, uint256 complement, bytes32 conditionId) external {
        if (registry[token].complement != 0 || registry[complement].complement != 0) revert AlreadyRegistered();
        if (_ctf.getOutcomeSlotCount(conditionId) != 2) revert InvalidTokenId();
        if (token != _positionId(conditionId, 1) || complement != _positionId(conditionId, 2)) revert InvalidTokenId();
        registry[token] = Registered(complement, conditionId);
        registry[complement] = Registered(token, conditionId);
        emit TokenRegistered(token, complement, conditionId);
        emit TokenRegistered(complement, token, conditionId);
    }

    /// @notice Reverts with the reason when the order cannot be filled now, whoever it meets and whatever it can pay.
    function validateOrder(Order calldata order) external view notPaused {
        _openMarket(order.tokenId);
        _check(order);
        bytes32 orderHash = hashOrder(order);
        (bool isOver,) = getOrderStatus(orderHash);
        if (isOver) revert OrderFilledOrCancelled();
        validateOrderSignature(orderHash, order);
    }

    /// @notice Settles matches, each by itself: one that fails moves nothing and stops no other.
    /// Emits `MatchSettled`, `Done` or `MatchFailed` for each.
    /// @return reasons For each match the data of an error, and nothing for a match that was settled: an `eth_call` says
    /// before the transaction which matches would fail, and why.
    function settle(Match[] calldata matches)
        external
        onlyOperator
        notPaused
        nonReentrant
        returns (bytes[] memory reasons)
    {
        reasons = new bytes[](matches.length);
        for (uint256 i; i < matches.length; ++i) {
            uint256 id = matches[i].id;
            if (isSettled(id)) {
                reasons[i] = abi.encodeWithSelector(AlreadySettled.selector);
                emit Done(id);
                continue;
            }
            bytes memory data = _callOf(matches, i);
            (bool isDone, bytes memory reason) = _try(data, REPORT_GAS * (1 + matches.length - i));
            if (!isDone) {
                emit MatchFailed(id, reason);
                reasons[i] = reason.length != 0 ? reason : abi.encodeWithSelector(NoReason.selector);
                continue;
            }
            emit MatchSettled(id, keccak256(data));
            // The next match uses the same memory, which costs more the more of it there is.
            assembly ("memory-safe") {
                mstore(0x40, data)
            }
        }
    }

    /// Runs one match. `kept` is gas to report this match and those after it: without it, a match that uses up its gas would
    /// undo those before it.
    function _try(bytes memory data, uint256 kept) private returns (bool isDone, bytes memory reason) {
        if (gasleft() < kept + MATCH_GAS_MIN) return (false, abi.encodeWithSelector(NotEnoughGas.selector));
        return address(this).call{gas: gasleft() - kept}(data);
    }

    /// @notice One match of `settle`, in a call of its own, so that its failure undoes it alone.
    function settleOne(Match calldata one) external {
        if (msg.sender != address(this)) revert NotSelf();
        _settled[one.id >> 8] |= 1 << (one.id & 0xff);
        _match(one.taker, one.makers, one.takerFill, one.makerFills);
    }

    /// @notice Settles one match, and reverts where `settle` would report a failure. It has no id: sent twice, it settles
    /// twice, as far as the orders allow.
    function matchOrders(
        Order calldata takerOrder,
        Order[] calldata makerOrders,
        uint256 takerFillAmount,
        uint256[] calldata makerFillAmounts
    ) external onlyOperator notPaused nonReentrant {
        _match(takerOrder, makerOrders, takerFillAmount, makerFillAmounts);
    }

    /// @notice Pays what is owed to a wallet in one asset. The wallet may name any receiver, others only the wallet.
    /// Works while trading is paused.
    function claim(address wallet, uint256 asset, address to) external nonReentrant {
        if (to == address(0) || to == address(this) || (msg.sender != wallet && to != wallet)) revert InvalidAddress();
        uint256 amount = owed[wallet][asset];
        if (amount == 0) revert NothingOwed();
        owed[wallet][asset] = 0;
        if (!_transfer(address(this), to, asset, amount, gasleft())) revert DeliveryFailed();
        emit Claimed(wallet, asset, to, amount);
    }

    /// @dev The contract takes outcome tokens only from a transfer of its own, so that none is sent here by mistake.
    function onERC1155Received(address operator, address, uint256, uint256, bytes memory)
        public
        view
        override
        returns (bytes4)
    {
        if (operator != address(this) || msg.sender != address(_ctf)) revert NotSelf();
        return this.onERC1155Received.selector;
    }

    function onERC1155BatchReceived(address operator, address, uint256[] memory, uint256[] memory, bytes memory)
        public
        view
        override
        returns (bytes4)
    {
        if (operator != address(this) || msg.sender != address(_ctf)) revert NotSelf();
        return this.onERC1155BatchReceived.selector;
    }

    /// The call of `settleOne` for a match. It copies the encoded match, from its beginning to that of the next, because
    /// decoding and encoding it again costs ten times as much. With another order of encoding it copies all that follows,
    /// which only costs more: `settleOne` decodes and checks what it gets.
    function _callOf(Match[] calldata matches, uint256 i) private pure returns (bytes memory data) {
        bytes4 selector = this.settleOne.selector;
        bool isLast = i + 1 == matches.length;
        Match calldata next = matches[isLast ? i : i + 1];
        Match calldata one = matches[i];
        assembly ("memory-safe") {
            let end := calldatasize()
            if and(iszero(isLast), gt(next, one)) { end := next }
            let size := sub(end, one)
            data := mload(0x40)
            mstore(data, add(size, 0x24))
            mstore(add(data, 0x20), selector)
            mstore(add(data, 0x24), 0x20)
            calldatacopy(add(data, 0x44), one, size)
            mstore(0x40, and(add(add(data, size), 0x63), not(0x1f)))
        }
    }

    function _setFeeReceiver(address receiver) private {
        _requireAddress(receiver);
        if (receiver == address(this)) revert InvalidAddress();
        feeReceiver = receiver;
        emit FeeReceiverChanged(receiver, msg.sender);
    }

    function _positionId(bytes32 conditionId, uint256 indexSet) private view returns (uint256) {
        return _ctf.getPositionId(address(_collateral), _ctf.getCollectionId(parentCollectionId, conditionId, indexSet));
    }

    /// First everything is checked and booked, then funds move: a wallet that is called meets a finished account.
    function _match(Order calldata taker, Order[] calldata makers, uint256 takerFill, uint256[] calldata makerFills)
        private
    {
        Sums memory sums;
        (sums.complement, sums.conditionId) = _openMarket(taker.tokenId);
        bytes32 takerHash = _spend(taker, takerFill);
        Leg[] memory legs = _meetAll(taker, makers, makerFills, sums);
        _close(takerHash, taker, takerFill, sums);
        if (sums.pays != 0) _move(taker, legs);
        if (sums.sets != 0) _moveAlike(taker, legs, sums);
    }

    function _meetAll(Order calldata taker, Order[] calldata makers, uint256[] calldata fills, Sums memory sums)
        private
        returns (Leg[] memory legs)
    {
        if (makers.length == 0 || makers.length != fills.length) revert WrongLengths();
        legs = new Leg[](makers.length);
        for (uint256 i; i < legs.length; ++i) _meet(taker, makers[i], fills[i], legs[i], sums);
    }

    /// The market of a registered token. Once its condition is paid out, what is left of forgotten orders must not be filled.
    function _openMarket(uint256 token) private view returns (uint256 complement, bytes32 conditionId) {
        Registered storage market = registry[token];
        (complement, conditionId) = (market.complement, market.conditionId);
        if (complement == 0) revert InvalidTokenId();
        if (_ctf.payoutDenominator(conditionId) != 0) revert ConditionResolved();
    }

    /// The assets that an order gives and takes.
    function _assets(bool isBuy, uint256 tokenId) private pure returns (uint256 gives, uint256 takes) {
        return isBuy ? (COLLATERAL, tokenId) : (tokenId, COLLATERAL);
    }

    /// Checks and books one maker against the taker, and adds its amounts to the sums.
    function _meet(Order calldata taker, Order calldata maker, uint256 making, Leg memory leg, Sums memory sums)
        private
    {
        bool isBuy = maker.side == BUY;
        bool isAlike = (taker.side == BUY) == isBuy;
        if (maker.tokenId != (isAlike ? sums.complement : taker.tokenId)) revert MismatchedTokenIds();
        bytes32 makerHash = _spend(maker, making);
        if (!_isCrossing(taker, maker, isAlike, isBuy)) revert NotCrossing();
        if (mulmod(making, maker.takerAmount, maker.makerAmount) != 0) revert NotWhole();
        uint256 taking = (making * maker.takerAmount) / maker.makerAmount;
        (uint256 tokens, uint256 cash) = isBuy ? (taking, making) : (making, taking);
        (leg.wallet, leg.isAlike, leg.making, leg.taking) = (maker.maker, isAlike, making, taking);
        leg.fee = _fee(maker, tokens, cash);
        // With a maker on its own side the taker pays or gets the rest of each full set.
        if (isAlike) cash = tokens - cash;
        uint256 takerFee = _fee(taker, tokens, cash);
        leg.takerFee = takerFee;
        // Amounts are below 2^120, and the gas of a block does not pay for 2^100 makers.
        unchecked {
            sums.takerFees += takerFee;
            if (!isAlike) {
                sums.pays += taking;
                sums.gets += making;
            } else {
                sums.sets += tokens;
                sums.alikePays += isBuy ? cash : tokens;
                sums.alikeGets += isBuy ? tokens : cash;
                sums.alikeTakerFees += takerFee;
            }
        }
        (uint256 gives, uint256 takes) = _assets(isBuy, maker.tokenId);
        emit OrderFilled(makerHash, leg.wallet, taker.maker, gives, takes, making, taking, leg.fee);
    }

    /// Checks that the taker gets what it signed.
    function _close(bytes32 orderHash, Order calldata taker, uint256 making, Sums memory sums) private {
        uint256 paid = sums.pays + sums.alikePays;
        uint256 got = sums.gets + sums.alikeGets;
        if (paid > making) revert NotCrossing();
        // A BUY loses its limit times what it gets. A SELL at a better price could lose more than it sells, and still get enough.
        bool isBuy = taker.side == BUY;
        if (!isBuy && paid != making) revert FillNotSold();
        if (got * taker.makerAmount < making * taker.takerAmount) revert TooLittleTokensReceived();
        address wallet = taker.maker;
        (uint256 gives, uint256 takes) = _assets(isBuy, taker.tokenId);
        emit OrderFilled(orderHash, wallet, address(this), gives, takes, paid, got, sums.takerFees);
        emit OrdersMatched(orderHash, wallet, gives, takes, paid, got);
    }

    /// True when both orders get their price or a better one. Products, so that nothing is rounded.
    function _isCrossing(Order calldata a, Order calldata b, bool isAlike, bool isBuy) private pure returns (bool) {
        if (!isAlike) return a.makerAmount * b.makerAmount >= a.takerAmount * b.takerAmount;
        if (isBuy) {
            return a.makerAmount * b.takerAmount + b.makerAmount * a.takerAmount >= a.takerAmount * b.takerAmount;
        }
        return a.takerAmount * b.makerAmount + b.takerAmount * a.makerAmount <= a.makerAmount * b.makerAmount;
    }

    /// The fee of a fill by what the order really exchanged in it, rounded down: its rate of the smaller of the collateral and
    /// the difference between it and the tokens. A SELL pays it in collateral, a BUY in tokens at the price of the fill.
    function _fee(Order calldata order, uint256 tokens, uint256 cash) private pure returns (uint256) {
        uint256 part = order.feeRateBps;
        if (part == 0 || cash == 0 || cash >= tokens) return 0;
        // Amounts are below 2^120 and rates below 2^10.
        unchecked {
            part *= cash < tokens - cash ? cash : tokens - cash;
            return order.side == BUY ? (part * tokens) / (BPS * cash) : part / BPS;
        }
    }

    /// Moves what a taker and the makers on the other side exchange, from wallet to wallet. Fees are taken from what an order
    /// receives.
    function _move(Order calldata taker, Leg[] memory legs) private {
        (uint256 gives, uint256 takes) = _assets(taker.side == BUY, taker.tokenId);
        address wallet = taker.maker;
        uint256 makerFees;
        for (uint256 i; i < legs.length; ++i) {
            Leg memory leg = legs[i];
            if (leg.isAlike) continue;
            makerFees += leg.fee;
            _deliver(wallet, leg.wallet, gives, leg.taking - leg.fee);
            _charge(leg.wallet, takes, leg.takerFee);
            _deliver(leg.wallet, wallet, takes, leg.making - leg.takerFee);
        }
        _charge(wallet, gives, makerFees);
    }

    /// Moves what a taker and the makers on its own side owe to their full sets here, splits or merges those once for all of them,
    /// and pays everybody.
    function _moveAlike(Order calldata taker, Leg[] memory legs, Sums memory sums) private {
        bool isBuy = taker.side == BUY;
        (uint256 gives, uint256 takes) = _assets(isBuy, taker.tokenId);
        uint256 before = _collateral.balanceOf(address(this));
        for (uint256 i; i < legs.length; ++i) {
            if (legs[i].isAlike) _pull(legs[i].wallet, isBuy ? COLLATERAL : sums.complement, legs[i].making);
        }
        _pull(taker.maker, gives, sums.alikePays);
        _convert(sums.conditionId, sums.sets, isBuy);
        // Else the difference would come from what the contract keeps for others.
        if (_collateral.balanceOf(address(this)) < (isBuy ? before : before + sums.sets)) revert CollateralNotExact();
        _charge(address(this), takes, sums.alikeTakerFees);
        _deliver(address(this), taker.maker, takes, sums.alikeGets - sums.alikeTakerFees);
        _payAlike(legs, isBuy ? sums.complement : COLLATERAL);
    }

    function _convert(bytes32 conditionId, uint256 sets, bool isSplit) private {
        uint256[] memory partition = new uint256[](2);
        (partition[0], partition[1]) = (1, 2);
        address collateral = address(_collateral);
        if (isSplit) _ctf.splitPosition(collateral, parentCollectionId, conditionId, partition, sets);
        else _ctf.mergePositions(collateral, parentCollectionId, conditionId, partition, sets);
    }

    function _payAlike(Leg[] memory legs, uint256 asset) private {
        uint256 fees;
        for (uint256 i; i < legs.length; ++i) {
            if (!legs[i].isAlike) continue;
            fees += legs[i].fee;
            _deliver(address(this), legs[i].wallet, asset, legs[i].taking - legs[i].fee);
        }
        _charge(address(this), asset, fees);
    }

    function _charge(address from, uint256 asset, uint256 amount) private {
        if (amount == 0) return;
        _deliver(from, feeReceiver, asset, amount);
        emit FeeCharged(feeReceiver, asset, amount);
    }

    /// Moves an asset between two wallets, or from this contract to a wallet. When the receiver refuses it, this contract
    /// keeps it for the receiver. A wallet whose code refused tokens is not called again in the same transaction.
    function _deliver(address from, address to, uint256 asset, uint256 amount) private {
        if (amount == 0) return;
        _requireGas(DELIVERY_GAS);
        bool mayTry = asset == COLLATERAL || !_refused(to);
        if (mayTry && _transfer(from, to, asset, amount, DELIVERY_GAS)) return;
        if (from != address(this)) _pullExactly(from, asset, amount);
        if (asset != COLLATERAL) _noteRefusal(to);
        owed[to][asset] += amount;
        emit Held(to, asset, amount);
    }

    function _pullExactly(address from, uint256 asset, uint256 amount) private {
        uint256 before = _collateral.balanceOf(address(this));
        _pull(from, asset, amount);
        if (asset == COLLATERAL && _collateral.balanceOf(address(this)) < before + amount) revert CollateralNotExact();
    }

    /// Moves an asset from a wallet to this contract, or blames the wallet.
    function _pull(address from, uint256 asset, uint256 amount) private {
        if (amount == 0) return;
        _requireGas(DELIVERY_GAS);
        if (!_transfer(from, address(this), asset, amount, gasleft())) revert Fault(from, _whyNot(from, asset, amount));
    }

    function _whyNot(address wallet, uint256 asset, uint256 amount) private view returns (bytes4) {
        if (asset == COLLATERAL) {
            if (_collateral.balanceOf(wallet) < amount) return NotEnoughCollateral.selector;
            if (_collateral.allowance(wallet, address(this)) < amount) return NotEnoughAllowance.selector;
        } else {
            if (_ctf.balanceOf(wallet, asset) < amount) return NotEnoughTokens.selector;
            if (!_ctf.isApprovedForAll(wallet, address(this))) return NotApproved.selector;
        }
        return TransferRefused.selector;
    }

    /// Returns false when the transfer failed. Copies at most one word of the answer, which a wallet may have written.
    function _transfer(address from, address to, uint256 asset, uint256 amount, uint256 gasMax)
        private
        returns (bool isDone)
    {
        bytes memory data;
        address target = address(_ctf);
        if (asset != COLLATERAL) {
            data = abi.encodeCall(_ctf.safeTransferFrom, (from, to, asset, amount, ""));
        } else {
            target = address(_collateral);
            data = from == address(this)
                ? abi.encodeCall(_collateral.transfer, (to, amount))
                : abi.encodeCall(_collateral.transferFrom, (from, to, amount));
        }
        assembly ("memory-safe") {
            mstore(0, 1)
            isDone := call(gasMax, target, 0, add(data, 0x20), mload(data), 0, 0x20)
            // A token that answers nothing has moved the amount; one that answers says true.
            isDone := and(isDone, eq(mload(0), 1))
        }
    }

    function _refused(address wallet) private view returns (bool refused) {
        assembly ("memory-safe") {
            refused := tload(wallet)
        }
    }

    function _noteRefusal(address wallet) private {
        assembly ("memory-safe") {
            tstore(wallet, 1)
        }
    }
}
