import { isError } from 'ethers';
import type { Config } from '../config/load';
import { readHead } from './blocks';
import { RpcError } from './endpoint';
import { readNumber } from './hex';
import { type Aside, LATE_MS, type NodeHealth } from './node-health';
import { createRpc, type Rpc } from './rpc';

/** The result of one check, as of src/store/health/doctor.ts. */
export interface ChainCheck {
  readonly name: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** Only when the chain answers otherwise than this variable says: with it every order would be wrong. */
  readonly variable?: string;
}

export interface NodesOptions {
  readonly rpc: Rpc;
  readonly chainId: number;
}

export type Found = Omit<ChainCheck, 'name'>;

/** One check of the chain. */
export interface Look {
  readonly name: string;
  readonly look: () => Promise<Found>;
  /** At fault when the contract has no such function. */
  readonly variable?: string;
}

/** The nodes that are asked about contract wallets; none without CHAIN_RPC_URL. */
export async function examineWalletNodes({
  walletRpcUrls,
  chainId,
}: Pick<Config, 'walletRpcUrls' | 'chainId'>): Promise<readonly ChainCheck[]> {
  if (walletRpcUrls.length === 0) return [];
  const rpc = createRpc(walletRpcUrls);
  try {
    return await seen([nodesLook({ rpc, chainId })]);
  } finally {
    rpc.stop();
  }
}

/** Whether the nodes serve the chain of this exchange, and agree with each other. */
export const nodesLook = (options: NodesOptions): Look => ({
  name: 'chain nodes',
  look: () => nodes(options),
});

/** Takes each look; one that fails is a check that fails. */
export const seen = (looks: readonly Look[]): Promise<readonly ChainCheck[]> =>
  Promise.all(looks.map(async (one) => ({ name: one.name, ...(await orFailure(one)) })));

async function orFailure({ look, variable }: Look): Promise<Found> {
  try {
    return await look();
  } catch (error) {
    const isAnswer = (error instanceof RpcError && error.isRevert) || isError(error, 'BAD_DATA');
    if (isAnswer && variable !== undefined)
      return differs(variable, 'there is another contract, or none, at this address');
    return fail(`cannot be seen: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export const ok = (detail: string) => ({ verdict: 'ok', detail }) as const;
export const warn = (detail: string) => ({ verdict: 'warn', detail }) as const;
export const fail = (detail: string) => ({ verdict: 'fail', detail }) as const;
export const differs = (variable: string, detail: string): Found => ({ verdict: 'fail', detail, variable });

const ASIDE: Readonly<Record<Aside, string>> = {
  FAILS: 'does not answer',
  LATE: 'answers late',
  BEHIND: 'is behind the others',
  CONTRADICTS: 'contradicts the others',
};

async function nodes({ rpc, chainId }: NodesOptions) {
  const answers = await rpc.askAll('eth_chainId', []);
  const others = answers.flatMap(({ endpoint, result }) => {
    const other = result === null ? chainId : readNumber(result, 'chain id');
    return other === chainId ? [] : [`${endpoint} serves chain ${other} and not ${chainId}`];
  });
  if (others.length > 0) return differs('CHAIN_RPC_URL', others.join('; '));
  // Sets aside the nodes that are behind.
  await readHead(rpc).catch(() => null);
  const health = rpc.health();
  const isLate = ({ latencyMs }: NodeHealth): boolean => (latencyMs ?? 0) >= LATE_MS;
  const isSlow = health.filter(isLate).length <= health.length - rpc.quorum;
  const problems = health.flatMap(({ name, ...one }, i) => {
    const error = answers[i]?.error;
    if (error) return [`${name}: ${error.message}`];
    const why = one.aside ?? (isSlow && isLate(one) ? 'LATE' : null);
    return why === null ? [] : [`${name} ${ASIDE[why]}`];
  });
  if (health.length - problems.length < rpc.quorum) return fail(problems.join('; '));
  if (problems.length > 0) return warn(problems.join('; '));
  if (answers.length === 1) return warn('one node, which is trusted alone: add others to CHAIN_RPC_URL');
  return ok(`${answers.length} nodes of chain ${chainId}`);
}
