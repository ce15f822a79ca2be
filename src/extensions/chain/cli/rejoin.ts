import { matchId } from '../../../chain/exchange-contract';
import { recorded } from '../../../cli/action';
import { type CliStore, type Command, EXIT, type Run } from '../../../cli/store';
import type { BlockRef } from '../../../exchange/chain';
import { Refusal } from '../../../exchange/errors';
import { settlementId } from '../../../store/records/settlement';
import type { ChainBooks } from '../books';
import { createPreflight } from '../contracts/preflight';
import type { EndedSettlement, Rejoined } from '../store/rejoin';
import { booksOf } from './chain';

/** The way back, and the settlements that it concerns. */
interface Plan {
  readonly ours: BlockRef;
  readonly theirs: BlockRef;
  readonly newest: BlockRef;
  /** The last final block that the books had and the chain still has. */
  readonly common: BlockRef;
  readonly confirmed: readonly EndedSettlement[];
  readonly failed: readonly EndedSettlement[];
  /** The ids of those that the new blocks have settled. */
  readonly there: ReadonlySet<string>;
}

/** Blocks for which readings of a replaced block still count (src/extensions/chain/lua/lib/admission.lua). */
const SEEN_BLOCKS = 4;
const ASKED_AT_ONCE = 50;
const NAMED_MAX = 20;

const refused = (text: string): Refusal => new Refusal('INVALID_REQUEST', text);

/** The newest of the blocks, which are newest first, that the chain has. If it has one, it has all before that one. */
async function commonOf({ blocks }: ChainBooks, known: readonly BlockRef[]): Promise<BlockRef | null> {
  let [from, to] = [0, known.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const block = known[middle];
    if (block && (await blocks.byNumber(block.number))?.hash === block.hash) to = middle;
    else from = middle + 1;
  }
  return known[to] ?? null;
}

async function settledOf(
  { rpc, contracts }: ChainBooks,
  list: readonly EndedSettlement[],
  at: BlockRef,
): Promise<ReadonlySet<string>> {
  const { exchangeAddress: exchange, collateralAddress: collateral } = contracts;
  const preflight = createPreflight(rpc, { exchange, collateral });
  const found = new Set<string>();
  for (let from = 0; from < list.length; from += ASKED_AT_ONCE) {
    const some = list.slice(from, from + ASKED_AT_ONCE);
    const are = await Promise.all(some.map((one) => preflight.wasSettled(matchId(one), at.number)));
    for (const [i, one] of some.entries()) if (are[i]) found.add(settlementId(one));
  }
  return found;
}

async function planOf(store: CliStore): Promise<Plan> {
  const books = booksOf(store);
  const { ledger, blocks } = books;
  const [cursor, { mode }] = await Promise.all([ledger.cursor(), store.reads.mode()]);
  if (cursor === null) throw refused('the books have no block yet: start a worker');
  const ours = cursor.final;
  const [theirs, newest] = await Promise.all([blocks.byNumber(ours.number), blocks.final()]);
  if (theirs === null)
    throw refused(`a majority of the nodes must know block ${ours.number}; see: exchange doctor`);
  if (theirs.hash === ours.hash)
    throw refused(
      `the nodes have block ${ours.number} as the books do, so there is nothing to do; see: exchange chain status`,
    );
  if (mode !== 'HALTED') throw refused(`the exchange is ${mode}; first: exchange mode HALTED`);
  if (newest.number <= ours.number + SEEN_BLOCKS)
    throw refused(
      `the final block of the nodes is ${newest.number} and must be after ${ours.number + SEEN_BLOCKS}; repeat this in some seconds`,
    );
  const known = await ledger.finalBlocks();
  const common = await commonOf(books, known);
  if (common === null)
    throw refused(
      `the chain has none of the last ${known.length} final blocks of the books; an empty Redis must follow it: see docs/run/runbook.md`,
    );
  const ended = await ledger.endedAfter(common.number);
  return {
    ours,
    theirs,
    newest,
    common,
    confirmed: ended.filter(({ status }) => status === 'CONFIRMED'),
    failed: ended.filter(({ status }) => status === 'FAILED'),
    there: await settledOf(books, ended, newest),
  };
}

function named(list: readonly EndedSettlement[]): string {
  const names = list.slice(0, NAMED_MAX).map(settlementId).join(', ');
  return list.length > NAMED_MAX ? `${names} and ${list.length - NAMED_MAX} others` : names;
}

/** `one` and `many` say what happens to the settlements. */
const counted = (
  status: EndedSettlement['status'],
  [one, many]: readonly [string, string],
  list: readonly EndedSettlement[],
): string[] => {
  const words = list.length === 1 ? `settlement ${one}` : `settlements ${many}`;
  return list.length === 0 ? [] : [`${list.length} ${status} ${words}: ${named(list)}`];
};

function wordsOf({ ours, theirs, newest, common, confirmed, failed, there }: Plan): string[] {
  const isThere = (one: EndedSettlement): boolean => there.has(settlementId(one));
  return [
    `block ${ours.number} of the books is ${ours.hash}`,
    `the nodes have ${theirs.hash} in its place, and their final block is ${newest.number}`,
    `block ${common.number} is the last that both have: up to ${ours.number - common.number} blocks were replaced`,
    ...counted(
      'CONFIRMED',
      ['is in the new blocks, too', 'are in the new blocks, too'],
      confirmed.filter(isThere),
    ),
    ...counted(
      'CONFIRMED',
      [
        'is not in the new blocks, and will be sent again',
        'are not in the new blocks, and will be sent again',
      ],
      confirmed.filter((one) => !isThere(one)),
    ),
    ...counted(
      'FAILED',
      ['stays FAILED', 'stay FAILED'],
      failed.filter((one) => !isThere(one)),
    ),
    ...counted(
      'FAILED',
      [
        'was settled by the new blocks, and will be CONFIRMED',
        'were settled by the new blocks, and will be CONFIRMED',
      ],
      failed.filter(isThere),
    ),
  ];
}

const after = ({ ours, common }: Plan): string[] => [
  `the worker reads the chain from block ${common.number} on`,
  `when exchange chain status shows a final block after ${ours.number}: exchange audit, then exchange mode NORMAL`,
];

/** The registrations and results of markets may have been in replaced blocks: the worker looks, and sends what the chain lacks. */
async function askForMarkets({ redis, keys, reads }: CliStore, { requests }: ChainBooks): Promise<void> {
  for (const id of await redis.hkeys(keys.markets)) {
    const { state } = await reads.view(id);
    if (state.resolution) await requests.wantResult(id, { ...state.resolution, dueMs: 0 });
    if (state.status !== 'DRAFT') await requests.openMarket(id);
  }
}

const REFUSALS = {
  MODE: 'the exchange is no longer HALTED; first: exchange mode HALTED',
  MOVED: 'the books are at another block by now; see: exchange chain status',
} as const;

async function rejoin(store: CliStore, { ours, common, confirmed, failed }: Plan): Promise<Rejoined> {
  const books = booksOf(store);
  const body = {
    from: ours.number,
    fromHash: ours.hash,
    to: common.number,
    toHash: common.hash,
    confirmed: confirmed.length,
    failed: failed.length,
  };
  return recorded(store, { action: 'chain rejoin', path: 'exchange chain rejoin', body }, async () => {
    const done = await books.ledger.rejoin(ours, common, confirmed);
    if (done.code !== 'OK') throw refused(REFUSALS[done.code]);
    await askForMarkets(store, books);
    return done;
  });
}

/**
 * Follows the chain again after it replaced a final block. The books go back to the last block that both have, and settlements in
 * replaced blocks are open again: the observer confirms those that the new blocks have, and the operator sends the others.
 */
export const rejoinChain =
  (yes: boolean): Command =>
  async ({ store, say, line, confirm, isJson }: Run) => {
    const plan = await planOf(store);
    if (!isJson) for (const words of wordsOf(plan)) await line(words);
    if (!yes) await confirm(`go back to block ${plan.common.number}`);
    const { reopened, unreadable } = await rejoin(store, plan);
    const { ours, theirs, common, failed, there } = plan;
    const facts = {
      block: ours.number,
      ours: ours.hash,
      theirs: theirs.hash,
      common: common.number,
      replaced: ours.number - common.number,
      reopened,
      failed: failed.length,
      alsoThere: [...there],
      unreadable: unreadable.map(settlementId),
    };
    await say(facts, [
      `${reopened} ${reopened === 1 ? 'settlement is' : 'settlements are'} open again`,
      ...unreadable.map(
        (one) => `${settlementId(one)} cannot be read and stays CONFIRMED; see: exchange audit`,
      ),
      ...after(plan),
    ]);
    return unreadable.length === 0 ? EXIT.done : EXIT.found;
  };
