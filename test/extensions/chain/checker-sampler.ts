import { sleep } from '../../support/waiting';
import type { Checked, Violation } from './checker';
import { type ApiBalance, type ApiBalances, type ApiSettlement, microOf, openApi } from './checker-api';
import { type ChainRecord, finalBlockOf, readChain, stateOf } from './checker-chain';
import { deedsOf, FUNDS_REASONS, newsOf } from './checker-deeds';
import { inMicro } from './checker-wallets';
import { createChain } from './rpc';

/**
 * C4, while the exchange runs: what the API shows is of a final block and is what the chain says there; no more is promised of an
 * asset than its wallet has, but for news younger than two blocks; and what was final once stays so.
 */
export interface Sampler {
  readonly samples: () => number;
  /** One look at every wallet, and at the newest settlements. */
  look(): Promise<void>;
  /** Ends the looks, and returns what was wrong in any of them. */
  stop(): Promise<Violation[]>;
}

/** The nodes, web and this test may share a process: the looks must leave it most of its time. */
const PAUSE_MS = 300;
const AT_ONCE = 2;
/** Two blocks, and the one under way. */
const YOUNG_BLOCKS = 3;
/** The most blocks that a match of a wallet that sent its funds away may take to fail. */
const NEWS_BLOCKS = 200;
const POLL_MS = 25;
const TAKING_BACK_MS = 100;
const PATIENCE_MS = 60_000;

interface Over {
  readonly wallet: string;
  readonly block: number;
  readonly words: string;
  readonly hasOrders: boolean;
}

/**
 * Looks all the time; when `isManual`, only when `look` is called, and then not at promises, for which it must look often. While web has no
 * Redis or node, it answers nothing, and that is no violation.
 */
export async function startSampler(checked: Checked, isManual = false): Promise<Sampler> {
  const { rpcUrl, baseUrl, adminToken, wallets } = checked;
  const api = await openApi(baseUrl, adminToken);
  const chain = createChain(rpcUrl);
  const violations: Violation[] = [];
  const over: Over[] = [];
  const ended = new Map<string, string>();
  let samples = 0;
  let isOver = false;

  /** The final block; of a chain that is taking blocks back, which has too few for a moment, when it has made others. */
  async function finalAt(block: number): Promise<number> {
    const final = await finalBlockOf(chain);
    if (final >= block) return final;
    await sleep(TAKING_BACK_MS);
    return finalBlockOf(chain);
  }

  async function lookAt(wallet: Checked['wallets'][number]): Promise<ApiBalances> {
    const balances = await api.balances(wallet);
    const { asOfBlock } = balances;
    samples++;
    // The wallet was never read.
    if (asOfBlock === 0) return balances;
    const final = await finalAt(asOfBlock);
    if (asOfBlock > final)
      violations.push(`C4: ${wallet.address} is shown as of block ${asOfBlock}, and only ${final} is final`);
    const state = await stateOf(chain, api.contracts, wallet.address, [], asOfBlock);
    const { collateral, approvals } = balances;
    const shown = [
      microOf(collateral.total),
      microOf(approvals.collateral.allowance),
      approvals.conditionalTokens.approved,
    ];
    const is = [
      inMicro(state.collateral, api.microAmount),
      inMicro(state.allowance, api.microAmount),
      state.isApproved,
    ];
    if (shown.join() !== is.join())
      violations.push(
        `C4: ${wallet.address} is shown with ${shown.join(', ')} as of block ${asOfBlock}, where the chain has ${is.join(', ')}`,
      );
    return balances;
  }

  /** Looks again until the promises of the wallet are covered, or the news are too old. */
  async function watchOver(wallet: Checked['wallets'][number]): Promise<void> {
    let balances = await lookAt(wallet);
    if (isManual) return;
    const since = balances.asOfBlock;
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (uncovered(balances).length > 0 && !isOver && performance.now() < giveUpAt) {
      if (balances.asOfBlock >= since + YOUNG_BLOCKS) {
        for (const { words, hasOrders } of uncovered(balances))
          over.push({ wallet: wallet.address, block: balances.asOfBlock, words, hasOrders });
        return;
      }
      await sleep(POLL_MS);
      balances = await lookAt(wallet);
    }
  }

  /** A match that was shown as final stays in its block. */
  async function lookAtEnds(): Promise<void> {
    const newest = await api.newestSettlements();
    const confirmed = newest.filter(({ status }) => status === 'CONFIRMED');
    const final = await finalAt(Math.max(...confirmed.map(({ blockNumber }) => blockNumber ?? 0)));
    for (const one of newest) {
      const before = ended.get(one.id);
      if (before !== undefined && before !== endOf(one))
        violations.push(`C4: ${one.id} was ${before}, and is ${endOf(one)}`);
      if (one.status !== 'CONFIRMED' && one.status !== 'FAILED') continue;
      if (one.status === 'CONFIRMED' && (one.blockNumber ?? Number.POSITIVE_INFINITY) > final)
        violations.push(`C4: ${one.id} is CONFIRMED in block ${one.blockNumber}, and only ${final} is final`);
      ended.set(one.id, endOf(one));
    }
  }

  async function look(): Promise<void> {
    for (let from = 0; from < wallets.length && !isOver; from += AT_ONCE) {
      await Promise.all(wallets.slice(from, from + AT_ONCE).map(watchOver));
      if (!isManual) await sleep(PAUSE_MS);
    }
    await lookAtEnds();
  }

  async function run(): Promise<void> {
    while (!isOver) await look();
  }
  const running = isManual ? Promise.resolve() : run();
  running.catch(() => undefined);

  return {
    samples: () => samples,
    look,
    async stop() {
      isOver = true;
      await running;
      for (const one of await api.settlements()) {
        const before = ended.get(one.id);
        if (before !== undefined && before !== endOf(one))
          violations.push(`C4: ${one.id} was ${before}, and is ${endOf(one)} in the end`);
      }
      const record = await readChain(rpcUrl, api.contracts);
      return [...violations, ...unexcused(over, record, checked.fromBlock ?? 0)];
    },
  };
}

const endOf = ({ status, transactionHash, blockNumber }: ApiSettlement): string =>
  `${status} in ${transactionHash}, block ${blockNumber}`;

/** The assets of which more is promised than the exchange may take. */
function uncovered({ collateral, tokens, approvals }: ApiBalances): { words: string; hasOrders: boolean }[] {
  const allowance = microOf(approvals.collateral.allowance);
  const list: [string, ApiBalance, bigint][] = [
    ['collateral', collateral, allowance],
    ...tokens.map((one): [string, ApiBalance, bigint] => [
      `the token ${one.tokenId.slice(0, 8)}…`,
      one,
      approvals.conditionalTokens.approved ? microOf(one.total) : 0n,
    ]),
  ];
  return list.flatMap(([name, { total, reserved, unsettled }, may]) => {
    const held = microOf(total) < may ? microOf(total) : may;
    if (microOf(reserved) + microOf(unsettled) <= held) return [];
    const words = `${reserved} reserved and ${unsettled} unsettled of ${name}, of which ${total} is there`;
    return [{ words, hasOrders: microOf(reserved) > 0n }];
  });
}

/** Open matches of a wallet that sent its funds away take some blocks to fail; its open orders end at once. */
function unexcused(over: readonly Over[], record: ChainRecord, fromBlock: number): Violation[] {
  const { sinceBlock } = newsOf(deedsOf(record, fromBlock), [], NEWS_BLOCKS);
  return over
    .filter(({ wallet, block, hasOrders }) => hasOrders || !sinceBlock(wallet, FUNDS_REASONS, block))
    .map(({ wallet, block, words }) => `C4: as of block ${block} ${wallet} has ${words}`);
}
