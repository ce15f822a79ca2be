import { Interface } from 'ethers';
import { RpcError } from '../../../chain/endpoint';
import { EXCHANGE, type Failure, failureOf } from '../../../chain/exchange-contract';
import { quantity, readBytes } from '../../../chain/hex';
import type { Rpc } from '../../../chain/rpc';
import { type EncodedMatch, settleData, settleGas, settleOneData } from './settle-call';
import type { Call } from './unsigned';

export interface Preflight {
  /** Why the contract refuses every call of this operator after this block; null when it does not. */
  refusal(lane: string, after: number): Promise<Failure | null>;
  /**
   * What one node says would stop each match in the next block; null when nothing would. Transactions that no block
   * contains yet may count ('pending'), or not ('latest').
   */
  failures(matches: readonly EncodedMatch[], at: 'pending' | 'latest'): Promise<readonly (Failure | null)[]>;
  /** The same for one match, as a majority of the nodes sees it after this block. Rejects when there is none. */
  agreedFailure(match: EncodedMatch, after: number | 'latest'): Promise<Failure | null>;
  /** Whether the collateral moves nothing for anybody after this block, as a majority sees it: it is paused. */
  isCollateralStuck(after: number): Promise<boolean>;
  /** Whether a match with this id had run when this block was made, as a majority knows it. */
  wasSettled(id: bigint, block: number): Promise<boolean>;
  /** Whether this call as a whole would revert after this block, as a majority sees it. */
  wouldRevert(lane: string, call: Call, after: number): Promise<boolean>;
}

const ERC20 = new Interface(['function transfer(address to, uint256 amount)']);
const TIMEOUT_MS = 5_000;
const EMPTY_GAS = 1_000_000n;

/** Looks, without a transaction, at what the next block would do: gas is not spent on a match that must fail. */
export function createPreflight(
  rpc: Pick<Rpc, 'ask' | 'agree'>,
  { exchange, collateral }: { readonly exchange: string; readonly collateral: string },
): Preflight {
  /** The data of the revert; null when the call succeeds. */
  async function revertOf(
    { from, to, data, gas }: { from: string; to: string; data: string; gas: bigint },
    at: 'pending' | 'latest' | number,
    ask: Rpc['ask'] = rpc.ask,
  ): Promise<string | null> {
    try {
      const call = { from, to, data, gas: quantity(gas) };
      await ask(
        'eth_call',
        [call, typeof at === 'number' ? quantity(at) : at],
        (answer) => readBytes(answer, 'answer'),
        TIMEOUT_MS,
      );
      return null;
    } catch (error) {
      if (error instanceof RpcError && error.isRevert) return error.data ?? '0x';
      // A call that runs out of gas reverts without data.
      if (error instanceof RpcError && error.isOutOfGas) return '0x';
      throw error;
    }
  }

  const failureIn = (data: string | null): Failure | null => (data === null ? null : failureOf(data));

  /** Only the contract itself may call `settleOne`, and a look may come from any address. */
  const callOf = (match: EncodedMatch) => ({
    from: exchange,
    to: exchange,
    data: settleOneData(match),
    gas: settleGas([match]),
  });

  return {
    async refusal(lane, after) {
      const call = { from: lane, to: exchange, data: settleData([]), gas: EMPTY_GAS };
      return failureIn(await revertOf(call, after, rpc.agree));
    },
    failures: (matches, at) =>
      Promise.all(matches.map(async (match) => failureIn(await revertOf(callOf(match), at)))),
    agreedFailure: async (match, after) => failureIn(await revertOf(callOf(match), after, rpc.agree)),
    async isCollateralStuck(after) {
      // Nothing, from the contract to itself: neither a balance nor an approval is needed for it.
      const data = ERC20.encodeFunctionData('transfer', [exchange, 0n]);
      const call = { from: exchange, to: collateral, data, gas: EMPTY_GAS };
      return (await revertOf(call, after, rpc.agree)) !== null;
    },
    async wasSettled(id, block) {
      const data = EXCHANGE.encodeFunctionData('isSettled', [id]);
      const read = (answer: unknown): boolean => BigInt(readBytes(answer, 'answer')) === 1n;
      return rpc.agree('eth_call', [{ to: exchange, data }, quantity(block)], read, TIMEOUT_MS);
    },
    wouldRevert: async (lane, { to, data, gasLimit: gas }, after) =>
      (await revertOf({ from: lane, to, data, gas }, after, rpc.agree)) !== null,
  };
}
