import { Interface } from 'ethers';
import { readBytes } from '../../../chain/hex';
import type { Rpc } from '../../../chain/rpc';
import type { WalletCall } from '../../../exchange/chain';
import type { OutcomeIndex } from '../../../exchange/market';
import type { Sending } from './key-sender';

/** The contracts of a chain. A market needs a condition, registered tokens and at the end a result there. */
export interface Contracts {
  readonly exchangeAddress: string;
  readonly collateralAddress: string;
  readonly conditionalTokensAddress: string;
}

/** The parts of a market's terms that the chain knows. */
export interface ChainMarket {
  readonly conditionId: string;
  readonly questionId: string;
  readonly oracle: string;
  readonly tokenIds: readonly [string, string];
}

/** The result of a condition: what each outcome pays, as on the chain. */
export type Payouts = readonly [bigint, bigint];

const CTF = new Interface([
  'function prepareCondition(address oracle, bytes32 questionId, uint256 outcomeSlotCount)',
  'function getOutcomeSlotCount(bytes32 conditionId) view returns (uint256)',
  'function reportPayouts(bytes32 questionId, uint256[] payouts)',
  'function payoutDenominator(bytes32 conditionId) view returns (uint256)',
  'function payoutNumerators(bytes32 conditionId, uint256 index) view returns (uint256)',
  'function splitPosition(address collateral, bytes32 parent, bytes32 conditionId, uint256[] partition, uint256 amount)',
  'function mergePositions(address collateral, bytes32 parent, bytes32 conditionId, uint256[] partition, uint256 amount)',
  'function redeemPositions(address collateral, bytes32 parent, bytes32 conditionId, uint256[] indexSets)',
  'function setApprovalForAll(address operator, bool approved)',
]);
const EXCHANGE = new Interface([
  'function getConditionId(uint256 token) view returns (bytes32)',
  'function registerToken(uint256 token, uint256 complement, bytes32 conditionId)',
  'function incrementNonce()',
]);
const ERC20 = new Interface([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function mint(address to, uint256 amount)',
]);

const SLOTS = 2n;
const NO_PARENT = `0x${'0'.repeat(64)}`;
/** Index sets of Yes and No. */
const PARTITION = [1n, 2n];
const UNLIMITED = (1n << 256n) - 1n;

/** Where the chain stands with a market. */
export interface Registration {
  readonly isPrepared: boolean;
  readonly isRegistered: boolean;
}

/** Reads are as of one block: its number as `0x…`, or a tag. They count when a majority of the nodes says so, because markets open and end by them. */
export interface Conditions {
  registration(market: ChainMarket, block: string): Promise<Registration>;
  /** Null while there is no result. */
  payouts(market: Pick<ChainMarket, 'conditionId'>, block: string): Promise<Payouts | null>;
  prepare(market: ChainMarket): Sending;
  register(market: ChainMarket): Sending;
  report(market: Pick<ChainMarket, 'questionId'>, payouts: Payouts): Sending;
  /** Mints test collateral, which every account may. */
  mint(wallet: string, units: bigint): Sending;
}

export function createConditions(rpc: Pick<Rpc, 'agree'>, contracts: Contracts): Conditions {
  const { exchangeAddress, collateralAddress, conditionalTokensAddress: ctf } = contracts;

  async function ask(abi: Interface, to: string, name: string, args: unknown[], block: string) {
    const data = abi.encodeFunctionData(name, args);
    const answer = await rpc.agree('eth_call', [{ to, data }, block], (one) => readBytes(one, name));
    return abi.decodeFunctionResult(name, answer)[0];
  }

  return {
    async registration({ conditionId, tokenIds }, block) {
      const slots = await ask(CTF, ctf, 'getOutcomeSlotCount', [conditionId], block);
      const condition = await ask(EXCHANGE, exchangeAddress, 'getConditionId', [tokenIds[0]], block);
      return { isPrepared: slots === SLOTS, isRegistered: condition === conditionId };
    },
    async payouts({ conditionId }, block) {
      const sum = await ask(CTF, ctf, 'payoutDenominator', [conditionId], block);
      if (sum === 0n) return null;
      const [yes, no] = [
        await ask(CTF, ctf, 'payoutNumerators', [conditionId, 0], block),
        await ask(CTF, ctf, 'payoutNumerators', [conditionId, 1], block),
      ];
      return [yes, no];
    },
    prepare: ({ oracle, questionId }) => ({
      to: ctf,
      data: CTF.encodeFunctionData('prepareCondition', [oracle, questionId, SLOTS]),
    }),
    register: ({ conditionId, tokenIds }) => ({
      to: exchangeAddress,
      data: EXCHANGE.encodeFunctionData('registerToken', [...tokenIds, conditionId]),
    }),
    report: ({ questionId }, payouts) => ({ to: ctf, data: reportData(questionId, payouts) }),
    mint: (wallet, units) => ({
      to: collateralAddress,
      data: ERC20.encodeFunctionData('mint', [wallet, units]),
    }),
  };
}

const reportData = (questionId: string, payouts: Payouts): string =>
  CTF.encodeFunctionData('reportPayouts', [questionId, payouts]);

/** The approvals that trading needs, for all amounts. */
export const approvalCalls = (contracts: Contracts): readonly [WalletCall, WalletCall] => [
  {
    to: contracts.collateralAddress,
    data: ERC20.encodeFunctionData('approve', [contracts.exchangeAddress, UNLIMITED]),
    description: 'Let the exchange contract take collateral for the orders that you sign',
  },
  {
    to: contracts.conditionalTokensAddress,
    data: CTF.encodeFunctionData('setApprovalForAll', [contracts.exchangeAddress, true]),
    description: 'Let the exchange contract take outcome tokens for the orders that you sign',
  },
];

/** Turns collateral into as many Yes and No tokens; it needs an approval of the conditional tokens first. */
export function splitCalls(contracts: Contracts, conditionId: string, units: bigint): readonly WalletCall[] {
  const { collateralAddress: collateral, conditionalTokensAddress: ctf } = contracts;
  return [
    {
      to: collateral,
      data: ERC20.encodeFunctionData('approve', [ctf, units]),
      description: 'Let the conditional tokens take the collateral of the sets',
    },
    {
      to: ctf,
      data: CTF.encodeFunctionData('splitPosition', [collateral, NO_PARENT, conditionId, PARTITION, units]),
      description: 'Split the collateral into Yes and No tokens',
    },
  ];
}

/** Turns as many Yes and No tokens into collateral. */
export const mergeCalls = (
  { collateralAddress: collateral, conditionalTokensAddress: to }: Contracts,
  conditionId: string,
  units: bigint,
): readonly WalletCall[] => [
  {
    to,
    data: CTF.encodeFunctionData('mergePositions', [collateral, NO_PARENT, conditionId, PARTITION, units]),
    description: 'Merge Yes and No tokens into collateral',
  },
];

/** Turns all tokens of a market with a result into what they pay. */
export const redeemCalls = (
  { collateralAddress: collateral, conditionalTokensAddress: to }: Contracts,
  conditionId: string,
): readonly WalletCall[] => [
  {
    to,
    data: CTF.encodeFunctionData('redeemPositions', [collateral, NO_PARENT, conditionId, PARTITION]),
    description: 'Redeem all tokens of the market for what they pay',
  },
];

/** Reports the result of a market, as its oracle. */
export const reportCall = (
  { conditionalTokensAddress: to }: Contracts,
  questionId: string,
  payouts: Payouts,
): WalletCall => ({
  to,
  data: reportData(questionId, payouts),
  description: 'Report the result of the market, as its oracle',
});

/** The payout of each outcome of a market; without an outcome the market is void. */
export const payoutsOf = (outcome: OutcomeIndex | null): Payouts =>
  outcome === null ? [1n, 1n] : outcome === 0 ? [1n, 0n] : [0n, 1n];

/** Voids the orders that the wallet signed with its present nonce; the contract waits a while first. */
export const nonceCall = ({ exchangeAddress: to }: Contracts): WalletCall => ({
  to,
  data: EXCHANGE.encodeFunctionData('incrementNonce'),
  description: 'Raise the nonce by one, which voids all orders that you signed with the present one',
});
