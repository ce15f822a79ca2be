import {
  addressIn,
  type EventName,
  type Failure,
  failureOf,
  type MatchName,
  matchOf,
  topicOf,
  wordsOf,
} from '../../../chain/exchange-contract';
import {
  BadAnswer,
  readAddress,
  readBytes,
  readHash,
  readList,
  readNumber,
  readObject,
} from '../../../chain/hex';
import { type Rpc, SLOW_MS } from '../../../chain/rpc';
import type { BlockRef } from '../../../exchange/chain';
import { MARKET_ID } from '../../../exchange/market';

/** A change of a wallet's funds by the exchange contract, in chain units. */
export interface Move {
  readonly wallet: string;
  /** 0 is the collateral, else the token's id. */
  readonly asset: bigint;
  readonly kind: 'GAVE' | 'GOT';
  /** The change of the balance: below zero for what the wallet gave, and for what it could not receive. */
  readonly amount: bigint;
}

/** A fill of an order, in chain units of the asset that the order gives, with its fee in the asset that it gets. */
export interface FilledOrder {
  readonly orderHash: string;
  readonly gave: bigint;
  readonly fee: bigint;
}

/** A match that the contract settled, with the fills of its orders: the makers in their order, and the taker last. */
export type SettledMatch = MatchName & {
  readonly transactionHash: string;
  readonly fills: readonly FilledOrder[];
};

/** An order, or all orders below a nonce, that a wallet takes back: the contract accepts them for a while after the event. */
export type Withdrawal =
  | { readonly kind: 'order'; readonly wallet: string; readonly orderHash: string }
  | { readonly kind: 'nonce'; readonly wallet: string; readonly minNonce: bigint };

/** The events of the exchange contract in one block, in their order. */
export interface ExchangeEvents {
  readonly settled: readonly SettledMatch[];
  readonly failed: readonly (MatchName & { readonly transactionHash: string; readonly failure: Failure })[];
  readonly moves: readonly Move[];
  readonly withdrawals: readonly Withdrawal[];
}

export interface EventReader {
  /** The events of a block, as a majority of the nodes knows them. */
  at(block: BlockRef): Promise<ExchangeEvents>;
}

const EVENTS: readonly EventName[] = [
  ...([
    'OrderFilled',
    'MatchSettled',
    'MatchFailed',
    'Held',
    'CancelRequested',
    'NonceRaiseRequested',
  ] as const),
];
/** More than the blocks between the head and the final one; each is read as head and again as final. */
const CACHED_MAX = 2_048;

export function createEventReader(rpc: Rpc, exchange: string): EventReader {
  const address = exchange.toLowerCase();
  const cached = new Map<string, ExchangeEvents>();
  return {
    async at({ hash }) {
      const known = cached.get(hash);
      if (known) return known;
      // By hash: asked by numbers, a node that lags behind would say that there are none.
      const filter = { blockHash: hash, address, topics: [EVENTS.map(topicOf)] };
      const logs = await rpc.agree(
        'eth_getLogs',
        [filter],
        (answer) => readLogs(answer, hash, address),
        SLOW_MS,
      );
      const events = eventsOf(logs);
      if (cached.size >= CACHED_MAX) cached.delete(cached.keys().next().value ?? '');
      cached.set(hash, events);
      return events;
    },
  };
}

interface Log {
  readonly index: number;
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
}

function readLogs(answer: unknown, blockHash: string, address: string): Log[] {
  const logs = readList(answer, 'logs').map((one): Log => {
    const log = readObject(one, 'log');
    if (readHash(log.blockHash, 'log') !== blockHash || readAddress(log.address, 'log') !== address)
      throw new BadAnswer('log');
    return {
      index: readNumber(log.logIndex, 'log'),
      topics: readList(log.topics, 'log').map((topic) => readHash(topic, 'log')),
      data: readBytes(log.data, 'log'),
      transactionHash: readHash(log.transactionHash, 'log'),
    };
  });
  return logs.sort((a, b) => a.index - b.index);
}

function eventsOf(logs: readonly Log[]): ExchangeEvents {
  const events = {
    settled: [] as ExchangeEvents['settled'][number][],
    failed: [] as ExchangeEvents['failed'][number][],
    moves: [] as Move[],
    withdrawals: [] as Withdrawal[],
  };
  const names = new Map(EVENTS.map((name) => [topicOf(name), name]));
  /** The fills of a transaction since its last match. */
  let since = { transactionHash: '', fills: [] as FilledOrder[] };
  for (const log of logs) {
    const name = names.get(log.topics[0] ?? '');
    const match = name === 'MatchSettled' || name === 'MatchFailed' ? matchOf(topic(log, 1)) : null;
    const { transactionHash } = log;
    if (since.transactionHash !== transactionHash) since = { transactionHash, fills: [] };
    const { fills } = since;
    if (match) since = { transactionHash, fills: [] };
    if (name === 'OrderFilled') {
      fills.push(filledIn(log));
      events.moves.push(...movesOf(log));
    }
    // Another exchange may use the same contract with names of its own.
    if (match && !MARKET_ID.test(match.marketId)) continue;
    if (match && name === 'MatchSettled') events.settled.push({ ...match, transactionHash, fills });
    if (match && name === 'MatchFailed')
      events.failed.push({ ...match, transactionHash, failure: failureOf(bytesIn(log)) });
    if (name === 'Held') events.moves.push(heldOf(log));
    if (name === 'CancelRequested' || name === 'NonceRaiseRequested')
      events.withdrawals.push(withdrawalOf(name, log));
  }
  return events;
}

/** A topic of an event, by its place; the first is the event's own. */
const topic = ({ topics }: Log, index: number): bigint => BigInt(topics[index] ?? 0);

/** `bytes` as the only member of the data: its place, its length, then the bytes. */
function bytesIn({ data }: Log): string {
  const words = wordsOf(data, 'log');
  const start = 2 + 64 * 2;
  return `0x${data.slice(start, start + Number(words.at(1)) * 2)}`;
}

/** A fill: the asset that the order gives, the one that it gets, both amounts, and the fee, which is taken from what it gets. */
function movesOf(log: Log): [Move, Move] {
  const wallet = addressIn(topic(log, 2));
  const words = wordsOf(log.data, 'log');
  return [
    { wallet, asset: words.at(0), kind: 'GAVE', amount: -words.at(2) },
    { wallet, asset: words.at(1), kind: 'GOT', amount: words.at(3) - words.at(4) },
  ];
}

function filledIn(log: Log): FilledOrder {
  const words = wordsOf(log.data, 'log');
  return { orderHash: log.topics[1] ?? '', gave: words.at(2), fee: words.at(4) };
}

/** The contract keeps an asset that a wallet could not receive. */
const heldOf = (log: Log): Move => ({
  wallet: addressIn(topic(log, 1)),
  asset: topic(log, 2),
  kind: 'GOT',
  amount: -wordsOf(log.data, 'log').at(0),
});

const withdrawalOf = (name: 'CancelRequested' | 'NonceRaiseRequested', log: Log): Withdrawal =>
  name === 'CancelRequested'
    ? { kind: 'order', wallet: addressIn(topic(log, 2)), orderHash: log.topics[1] ?? '' }
    : { kind: 'nonce', wallet: addressIn(topic(log, 1)), minNonce: wordsOf(log.data, 'log').at(0) };
