import { setTimeout as sleep } from 'node:timers/promises';
import { checksumAddress } from '../../../auth/address';
import { recorded } from '../../../cli/action';
import { type CliStore, type Command, EXIT, type Run } from '../../../cli/store';
import { table } from '../../../cli/table';
import { Refusal } from '../../../exchange/errors';
import { partAt } from '../../../store/lists/list';
import type { ChainBooks } from '../books';
import { readNonce } from '../contracts/transaction';
import { booksIn } from '../exchange';
import type { ChainCursor } from '../store/accounts';
import { watchCongestion } from '../store/congestion';
import { createIntents, type Lane, type LaneState } from '../store/intents';

const PAPER = 'this exchange has paper funds: only FUNDS=chain has something to show here';

/** Throws NOT_FOUND with paper funds. */
export function booksOf(store: CliStore): ChainBooks {
  const books = booksIn(store);
  if (books === null) throw new Refusal('NOT_FOUND', PAPER);
  return books;
}

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1_000))} s`;

const waitingIn = ({ redis, keys, clock }: CliStore) =>
  watchCongestion({ redis, keys, now: clock.now }).look();

const NOT_READ = 'not read yet';

/** After `chain rejoin` no block was noted yet. While the observer stands, so do both blocks: their ages show it. */
export function blockWords(cursor: ChainCursor | null, now: number): string {
  if (cursor === null) return 'the books have no block yet: does a worker run?';
  const { final, finalNotedMs, head, headNotedMs } = cursor;
  const aged = (at: number | null): string => (at ? `noted ${seconds(now - at)} ago` : NOT_READ);
  const next = finalNotedMs === 0 ? `the one after it is ${NOT_READ}` : aged(finalNotedMs);
  const newest = head === null ? NOT_READ : `${head.number}, ${aged(headNotedMs)}`;
  return `final block ${final.number}, ${next}; head ${newest}`;
}

/** How far the books follow the chain, and all that waits for it. */
export const chainStatus: Command = async ({ store, say }) => {
  const { ledger, requests } = booksOf(store);
  const { clock, settlements } = store;
  const [cursor, { failed }, waiting, lanes, { mode, message }, opening, results, faucet] = await Promise.all(
    [
      ledger.cursor(),
      settlements.counts(),
      waitingIn(store),
      createIntents(store).lanes(),
      store.reads.mode(),
      requests.opening(),
      requests.wantedResults(),
      requests.thirsty(),
    ],
  );
  const now = clock.now();
  const running = lanes.filter(({ state }) => state === 'RUNNING').length;
  const facts = {
    mode,
    message,
    finalBlock: cursor?.final.number ?? null,
    headBlock: cursor?.head?.number ?? null,
    finalAgeMs: cursor?.finalNotedMs ? Math.round(now - cursor.followedMs) : null,
    headAgeMs: cursor?.headNotedMs ? Math.round(now - cursor.headNotedMs) : null,
    unsettled: waiting.count,
    failed,
    lanes: lanes.length,
    running,
    oldestMs: waiting.oldestMs === null ? null : Math.round(now - waiting.oldestMs),
    oldestId: waiting.oldestId,
    opening,
    results: [...results.keys()],
    faucet: faucet.length,
  };
  await say(facts, [
    `mode ${mode}${message === null ? '' : `: ${message}`}`,
    blockWords(cursor, now),
    `${waiting.count} ${waiting.count === 1 ? 'settlement is' : 'settlements are'} not final${waiting.oldestMs === null ? '' : `, the oldest for ${seconds(now - waiting.oldestMs)}: ${waiting.oldestId}`}; ${failed} failed${failed === 0 ? '' : ' (see: exchange settlements export --status FAILED)'}`,
    `${running} of ${lanes.length} lanes run`,
    `${opening.length} markets wait to open, ${results.size} for their result, ${faucet.length} wallets for the faucet`,
  ]);
  return EXIT.done;
};

/** The addresses that settle, and their transactions that are not final. */
export const chainLanes: Command = async ({ store, say }) => {
  booksOf(store);
  const intents = createIntents(store);
  const now = store.clock.now();
  const rows = await Promise.all(
    (await intents.lanes()).map(async (lane) => {
      const open = await intents.list(lane.address);
      const matches = open.reduce((sum, one) => sum + one.matches.length, 0);
      return { ...lane, isHeld: lane.leasedUntilMs > now, open: open.length, matches };
    }),
  );
  await say(
    rows,
    table(
      rows.map((one) => [
        checksumAddress(one.address),
        one.state,
        one.isHeld ? 'held by a worker' : 'held by no worker',
        `next nonce ${one.nextNonce}`,
        `${one.open} transactions with ${one.matches} matches are not final`,
      ]),
    ),
  );
  return EXIT.done;
};

/** The lanes that the words name: one, or all. Throws NOT_FOUND. */
async function lanesOf(store: CliStore, address: string | undefined): Promise<readonly Lane[]> {
  booksOf(store);
  const all = await createIntents(store).lanes();
  const wanted = address?.toLowerCase();
  const found = all.filter((lane) => wanted === undefined || lane.address === wanted);
  if (found.length === 0) throw new Refusal('NOT_FOUND', 'there is no such lane; see: exchange chain lanes');
  return found;
}

/** Moves lanes that are in one state to another, and leaves the others. */
const moveLanes =
  (words: string, from: LaneState, to: LaneState) =>
  (address: string | undefined): Command =>
  async ({ store, say }: Run) => {
    const lanes = await lanesOf(store, address);
    const intents = createIntents(store);
    const action = `chain ${words}`;
    const moved = await recorded(
      store,
      { action, path: `exchange ${action}`, body: { address } },
      async () => {
        const done: string[] = [];
        for (const lane of lanes)
          if (await intents.moveLane(lane.address, { from, to })) done.push(lane.address);
        return done;
      },
    );
    await say({ lanes: moved, state: to }, [
      ...moved.map((one) => `${checksumAddress(one)} ${to}`),
      ...(moved.length === 0 ? [`no lane was ${from}; see: exchange chain lanes`] : []),
    ]);
    return moved.length === 0 ? EXIT.refused : EXIT.done;
  };

export const pauseLanes = moveLanes('pause', 'RUNNING', 'PAUSED');
export const resumeLanes = moveLanes('resume', 'PAUSED', 'RUNNING');

/** The values of the last final block, as a majority of the nodes knows it: a wrong nonce would stop the lane. */
const nonceOf = async ({ rpc, blocks }: ChainBooks, address: string): Promise<number> =>
  readNonce({ ask: rpc.agree }, address, (await blocks.final()).number);

/**
 * Lets a lane go on whose nonces were used without this exchange: this Redis was restored from a backup, or its key was used
 * elsewhere. Matches of it that the chain has settled become CONFIRMED by the observer, and the contract settles none twice.
 */
export const adoptLane =
  (address: string): Command =>
  async ({ store, say }: Run) => {
    const books = booksOf(store);
    const [lane] = await lanesOf(store, address);
    if (!lane) return EXIT.refused;
    const nextNonce = await nonceOf(books, lane.address);
    const doing = { action: 'chain adopt', path: 'exchange chain adopt', body: { address, nextNonce } };
    const isMoved = await recorded(store, doing, () =>
      createIntents(store).moveLane(lane.address, { from: 'AHEAD', to: 'RUNNING', nextNonce }),
    );
    await say({ lane: lane.address, nextNonce, isAdopted: isMoved }, [
      isMoved
        ? `${checksumAddress(lane.address)} runs from nonce ${nextNonce}`
        : `${checksumAddress(lane.address)} is ${lane.state}, not AHEAD: nothing changed`,
    ]);
    return isMoved ? EXIT.done : EXIT.refused;
  };

const DRAIN_POLL_MS = 500;

/**
 * The settlements that are not final; without any, the matches that the worker has not recorded yet; without any, the transactions
 * that are not over.
 */
async function leftIn(store: CliStore): Promise<number> {
  const { clock } = store;
  const { matches } = partAt(store.partitions, 0);
  const { count } = await waitingIn(store);
  if (count > 0) return count;
  const bounds = { nowMs: clock.now(), graceMs: 0, patienceMs: 0, most: 1 };
  let unwritten = 0;
  for (const id of await matches.markets()) unwritten += (await matches.unsettled(id, bounds)).length;
  return unwritten > 0 ? unwritten : (await createIntents(store).list()).length;
}

/** Takes no more orders, and waits until the chain has settled everything. The mode stays CANCEL_ONLY. */
export const drainChain =
  (timeoutSec: number): Command =>
  async ({ store, say, line }: Run) => {
    booksOf(store);
    const doing = { action: 'chain drain', path: 'exchange chain drain', body: {} };
    await recorded(store, doing, () => store.engine.setMode('CANCEL_ONLY', 'the exchange is being drained'));
    await line('CANCEL_ONLY; waiting for the chain');
    const until = performance.now() + timeoutSec * 1_000;
    let unsettled = await leftIn(store);
    while (unsettled > 0 && performance.now() < until) {
      await sleep(DRAIN_POLL_MS);
      unsettled = await leftIn(store);
    }
    await say({ unsettled }, [
      unsettled === 0
        ? 'everything is settled; resume with: exchange mode NORMAL'
        : `${unsettled} settlements still wait; see: exchange chain status`,
    ]);
    return unsettled === 0 ? EXIT.done : EXIT.found;
  };
