import { sleep } from '../../support/waiting';
import { type Api, type ApiSettlement, type CheckedWallet, openApi } from './checker-api';
import { readChain } from './checker-chain';
import { type BlockSeen, deedsOf, newsOf, readBlocks } from './checker-deeds';
import { checkLanes } from './checker-lanes';
import { checkEnds, checkMoved } from './checker-matches';
import { checkOrders, checkSupplies } from './checker-supplies';
import { checkWallet, type WalletBooks } from './checker-wallets';

/**
 * Checks an exchange with funds on a chain from outside, with the chain and the API alone, after everything has been settled:
 * C1 every account is the chain's; C2 every CONFIRMED settlement moved what its record says; C3 it is CONFIRMED exactly when the
 * chain settled it, and FAILED for what the wallet named has done; C4 no order ended without news of its wallet (and
 * checker-sampler.ts while the exchange runs); C5 no wallet paid twice, and all supplies add up; C6 every nonce of a lane is one of
 * the exchange's own transactions.
 */
export interface Checked {
  /** A node that answers as it should. */
  readonly rpcUrl: string;
  readonly baseUrl: string;
  readonly adminToken: string;
  /** Every wallet that trades. */
  readonly wallets: readonly CheckedWallet[];
  /** Up to this block others used the chain, and the wallets got their funds. */
  readonly fromBlock?: number;
  /** So many blocks before an order was made may lie what its wallet has done, because the books may lag behind. */
  readonly newsBlocks?: number;
  /** The longest wait for the end of all settlements. */
  readonly drainMs?: number;
  /** Ids of settlements that Redis has lost, and that the chain has settled. */
  readonly lost?: ReadonlySet<string>;
}

export type Violation = string;

const DRAIN_MS = 120_000;
const POLL_MS = 250;
const NEWS_BLOCKS = 100;
/** A wallet's reading is shown for up to 24 blocks. */
const SHOWN_BLOCKS = 30;
const BOOKS_MS = 60_000;
const AT_ONCE = 10;
const SHOWN_MAX = 40;

/** Returns every violation as a sentence; nothing when all is well. */
export async function checkFunds(checked: Checked): Promise<Violation[]> {
  const { rpcUrl, baseUrl, adminToken, wallets, fromBlock = 0, newsBlocks = NEWS_BLOCKS } = checked;
  const api = await openApi(baseUrl, adminToken);
  await drain(api, checked.drainMs ?? DRAIN_MS);
  const [records, markets] = await Promise.all([api.settlements(), api.markets()]);
  const tokenIds = markets.flatMap(({ outcomes }) => outcomes.map(({ tokenId }) => tokenId));
  const chain = await readChain(rpcUrl, api.contracts);
  const blocks = await readBlocks(chain, fromBlock);
  const books: WalletBooks[] = [];
  const violations: Violation[] = [];
  await each(wallets, async (wallet) => {
    const { found, left } = await settledBooks(api, wallet, () => checkWallet(api, chain, wallet, tokenIds));
    books.push(found);
    violations.push(...left);
  });
  const trades = (await Promise.all(markets.map(({ id }) => api.trades(id)))).flat();
  const news = newsOf(deedsOf(chain, fromBlock), blocks, newsBlocks);
  const facts = { ...checked, fromBlock, api, chain, blocks, records, markets, trades, books, news };
  violations.push(...checkEnds(facts), ...(await checkMoved(facts)));
  violations.push(...(await checkOrders(facts)), ...(await checkSupplies(facts)));
  violations.push(...(await checkLanes(facts, await wholeMetrics(api))));
  violations.push(...(await api.audit()).map((one) => `C1: the audit finds ${JSON.stringify(one)}`));
  return violations.length <= SHOWN_MAX
    ? violations
    : [...violations.slice(0, SHOWN_MAX), `and ${violations.length - SHOWN_MAX} more`];
}

export interface Facts extends Checked {
  readonly fromBlock: number;
  readonly api: Api;
  readonly chain: Awaited<ReturnType<typeof readChain>>;
  readonly blocks: readonly BlockSeen[];
  readonly records: readonly ApiSettlement[];
  readonly markets: Awaited<ReturnType<Api['markets']>>;
  readonly trades: readonly { readonly id: string }[];
  readonly books: readonly WalletBooks[];
  /** Whether a wallet has done, shortly before or after this time, what one of these reasons says. */
  readonly news: ReturnType<typeof newsOf>;
}

const ENDED = new Set(['CONFIRMED', 'FAILED']);

/** Waits until each trade has a record, each record has ended, and no transaction is open; the checks name what is left. */
async function drain(api: Api, patienceMs: number): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (performance.now() < giveUpAt && !(await isDrained(api))) await sleep(POLL_MS);
}

async function isDrained(api: Api): Promise<boolean> {
  const open = (await api.metrics()).filter(
    ({ name, value }) =>
      value !== 0 &&
      /^exchange_(settlements_unconfirmed|chain_open_transactions|outbox_unprocessed)$/.test(name),
  );
  if (open.length > 0) return false;
  const [records, markets] = await Promise.all([api.settlements(), api.markets()]);
  const trades = (await Promise.all(markets.map(({ id }) => api.trades(id)))).flat();
  const settled = new Set(records.flatMap(({ tradeIds }) => tradeIds));
  return records.every(({ status }) => ENDED.has(status)) && trades.every(({ id }) => settled.has(id));
}

/** While the chain is late, the metrics lack what is read from it. */
async function wholeMetrics(api: Api): ReturnType<Api['metrics']> {
  const giveUpAt = performance.now() + BOOKS_MS;
  for (;;) {
    const samples = await api.metrics();
    const isWhole = samples.some(({ name }) => name === 'exchange_chain_nonce_gap');
    if (isWhole || performance.now() > giveUpAt) return samples;
    await sleep(POLL_MS);
  }
}

/** Looks again until the books of a wallet are right, or are so young that they should be. */
async function settledBooks(
  api: Api,
  wallet: CheckedWallet,
  look: () => Promise<{ readonly found: WalletBooks; readonly left: Violation[] }>,
) {
  const giveUpAt = performance.now() + BOOKS_MS;
  const { asOfBlock: first } = await api.balances(wallet);
  for (;;) {
    const seen = await look();
    const isYoung = seen.found.balances.asOfBlock > first + SHOWN_BLOCKS;
    if (seen.left.length === 0 || isYoung || performance.now() > giveUpAt) return seen;
    await sleep(POLL_MS);
  }
}

async function each<T>(list: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < list.length; from += AT_ONCE)
    await Promise.all(list.slice(from, from + AT_ONCE).map(act));
}
