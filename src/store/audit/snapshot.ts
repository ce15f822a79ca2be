import type { Funds } from '../../exchange/chain';
import type { MarketId } from '../../exchange/market';
import {
  accountName,
  type CashAccount,
  decodeCash,
  decodeChainCash,
  decodeChainTokens,
  decodePayout,
  decodeTokens,
  type Payout,
  type TokenAccount,
} from '../records/account';
import { decodeOrder, hashHex, type OrderRecord } from '../records/order';

/** The fields of a stored order that an audit needs, and its places in the indexes. */
export interface AuditedOrder extends Omit<OrderRecord, 'signed' | 'clientOrderId'> {
  /** Score in its wallet's index; null when the index lacks it. */
  rank: number | null;
}

/** An order's place in a book. */
export interface BookEntry {
  readonly marketId: MarketId;
  readonly side: 'b' | 'a';
  readonly sequence: number;
  readonly score: number;
}

/** An entry of a wallet's index that named no order of the wallet when it was read. */
export interface Stray {
  readonly wallet: string;
  readonly orderHash: string;
}

export type Holders = Map<string, readonly [TokenAccount, TokenAccount]>;

const MEMBER_SEQUENCE_BYTES = 6;

/** Makes equal strings one object, so that a maker's hundred orders share one. */
type Share = (text: string) => string;

function createShare(): Share {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    names.set(text, text);
    return text;
  };
}

function createOrders(shared: Share) {
  const orders = new Map<string, AuditedOrder>();
  const brokenOrders = new Map<string, string>();
  const strays = new Map<string, Stray>();
  const returned = new Map<string, number>();

  function setOrder(hash: Buffer, packed: Buffer, rank: number | null): void {
    const orderHash = hashHex(hash);
    try {
      const { signed: _, clientOrderId: __, ...record } = decodeOrder(orderHash, packed);
      brokenOrders.delete(orderHash);
      const [maker, marketId] = [shared(record.maker), shared(record.marketId)];
      orders.set(orderHash, { ...record, maker, marketId, rank });
    } catch (error) {
      brokenOrders.set(orderHash, error instanceof Error ? error.message : String(error));
    }
  }

  function setRank(wallet: string, hash: Buffer, rank: number): void {
    const orderHash = hashHex(hash);
    const order = orders.get(orderHash);
    if (order?.maker === wallet) order.rank = rank;
    else strays.set(`${wallet} ${orderHash}`, { wallet, orderHash });
  }

  function setReturned(hash: Buffer, lots: number): void {
    if (lots > 0) returned.set(hashHex(hash), lots);
    else returned.delete(hashHex(hash));
  }

  const dropOrder = (orderHash: string): void => void orders.delete(orderHash);

  return { orders, brokenOrders, strays, returned, setOrder, setRank, setReturned, dropOrder };
}

function createBook(orders: ReadonlyMap<string, AuditedOrder>, shared: Share) {
  const book = new Map<string, readonly BookEntry[]>();

  function addBookEntry(marketId: MarketId, side: 'b' | 'a', member: Buffer, score: number): void {
    const orderHash = hashHex(member.subarray(MEMBER_SEQUENCE_BYTES));
    const sequence = member.length < MEMBER_SEQUENCE_BYTES ? 0 : member.readUIntBE(0, MEMBER_SEQUENCE_BYTES);
    const entry = { marketId: shared(marketId), side, sequence, score };
    book.set(orderHash, [...withoutPlace(orderHash, marketId, side, sequence), entry]);
  }

  function setPlace(orderHash: string, side: 'b' | 'a', score: number | null): void {
    const order = orders.get(orderHash);
    if (!order) return;
    const { marketId, sequence } = order;
    // An order that is back on the book after a failed match has another number than before.
    const others = (book.get(orderHash) ?? []).filter(
      (place) => place.marketId !== marketId || place.side !== side,
    );
    const entries = score === null ? others : [...others, { marketId, side, sequence, score }];
    if (entries.length === 0) book.delete(orderHash);
    else book.set(orderHash, entries);
  }

  const withoutPlace = (orderHash: string, marketId: MarketId, side: 'b' | 'a', sequence: number) =>
    book
      .get(orderHash)
      ?.filter(
        (entry) => entry.marketId !== marketId || entry.side !== side || entry.sequence !== sequence,
      ) ?? [];

  return { book, addBookEntry, setPlace };
}

function createLedger(shared: Share, funds: Funds) {
  const [cashOf, tokensOf] =
    funds === 'chain' ? [decodeChainCash, decodeChainTokens] : [decodeCash, decodeTokens];
  const cash = new Map<string, CashAccount>();
  const tokens = new Map<MarketId, Holders>();
  const payouts = new Map<MarketId, Map<string, Payout>>();

  function setCash(account: Buffer, packed: Buffer): void {
    if (packed.length > 0) cash.set(shared(accountName(account)), cashOf(packed));
    else cash.delete(accountName(account));
  }

  function setTokens(marketId: MarketId, account: Buffer, packed: Buffer): void {
    const holders: Holders = tokens.get(marketId) ?? new Map();
    tokens.set(marketId, holders);
    if (packed.length > 0) holders.set(shared(accountName(account)), tokensOf(packed));
    else holders.delete(accountName(account));
  }

  function setPayout(marketId: MarketId, account: Buffer, packed: Buffer): void {
    if (packed.length === 0) return;
    const paid = payouts.get(marketId) ?? new Map<string, Payout>();
    payouts.set(marketId, paid);
    paid.set(shared(accountName(account)), decodePayout(packed));
  }

  return { cash, tokens, payouts, setCash, setTokens, setPayout };
}

/** The data of an audit, by name, and the functions with which its readers add to it. */
export interface Snapshot {
  /** The orders, by hash. */
  readonly orders: ReadonlyMap<string, AuditedOrder>;
  /** The reasons why stored orders cannot be read, by hash. */
  readonly brokenOrders: ReadonlyMap<string, string>;
  readonly strays: ReadonlyMap<string, Stray>;
  /** Lots of failed matches that are not filled any more, by order; only with funds on a chain. */
  readonly returned: ReadonlyMap<string, number>;
  /** The places of each order, by its hash; a correct exchange has one place for each. */
  readonly book: ReadonlyMap<string, readonly BookEntry[]>;
  /** Balances, by account. */
  readonly cash: ReadonlyMap<string, CashAccount>;
  readonly tokens: ReadonlyMap<MarketId, Holders>;
  readonly payouts: ReadonlyMap<MarketId, ReadonlyMap<string, Payout>>;
  /** The second at which an order expires, by its hash. */
  readonly expiries: ReadonlyMap<string, number>;
  /** `<account> <market>` of every market that an account's list names. */
  readonly holdings: ReadonlySet<string>;
  /** Fields of the markets' hashes. */
  readonly markets: ReadonlyMap<MarketId, ReadonlyMap<string, Buffer>>;
  /** All collateral that came into the partition: granted here and got from others, less what was sent. In micro-units. */
  granted: bigint;
  /** The part of the fees that repaired channels (src/extensions/shards/lua/resend_collateral.lua). In micro-units. */
  repaid: bigint;
  setOrder(hash: Buffer, packed: Buffer, rank: number | null): void;
  setRank(wallet: string, hash: Buffer, rank: number): void;
  setReturned(hash: Buffer, lots: number): void;
  dropOrder(orderHash: string): void;
  /** Drops an order that is not stored any more, with its places. */
  forgetOrder(hash: Buffer): void;
  /** `member` as lua/lib/book.lua writes it. */
  addBookEntry(marketId: MarketId, side: 'b' | 'a', member: Buffer, score: number): void;
  /** The order's own place in the book: a score, or none. */
  setPlace(orderHash: string, side: 'b' | 'a', score: number | null): void;
  /** Payouts are never deleted; an empty value deletes any other entry. */
  setPayout(marketId: MarketId, account: Buffer, packed: Buffer): void;
  setCash(account: Buffer, packed: Buffer): void;
  setTokens(marketId: MarketId, account: Buffer, packed: Buffer): void;
  setField(marketId: MarketId, name: string, value: Buffer): void;
  setExpiry(hash: Buffer, second: number | null): void;
  setHolding(account: string, marketId: MarketId, isHeld: boolean): void;
  /** Every account seen: wallets and the fee account. */
  accounts(): Set<string>;
}

/**
 * The exchange as it was read: first in many steps, then caught up with the changes made meanwhile (changes.ts), after
 * which it is the state of one moment.
 */
export function createSnapshot(funds: Funds = 'paper'): Snapshot {
  const shared = createShare();
  const ofOrders = createOrders(shared);
  const { orders, strays } = ofOrders;
  const ofBook = createBook(orders, shared);
  const ofLedger = createLedger(shared, funds);
  const { cash, tokens } = ofLedger;
  const expiries = new Map<string, number>();
  const holdings = new Set<string>();
  const markets = new Map<MarketId, Map<string, Buffer>>();

  function setExpiry(hash: Buffer, second: number | null): void {
    if (second === null) expiries.delete(hashHex(hash));
    else expiries.set(hashHex(hash), second);
  }

  function forgetOrder(hash: Buffer): void {
    const orderHash = hashHex(hash);
    for (const [name, stray] of strays) if (stray.orderHash === orderHash) strays.delete(name);
    if (!orders.has(orderHash)) return;
    ofBook.setPlace(orderHash, 'b', null);
    ofBook.setPlace(orderHash, 'a', null);
    setExpiry(hash, null);
    ofOrders.dropOrder(orderHash);
  }

  function setHolding(account: string, marketId: MarketId, isHeld: boolean): void {
    const name = `${account} ${marketId}`;
    if (isHeld) holdings.add(name);
    else holdings.delete(name);
  }

  function setField(marketId: MarketId, name: string, value: Buffer): void {
    const fields = markets.get(marketId) ?? new Map<string, Buffer>();
    markets.set(marketId, fields);
    if (value.length > 0) fields.set(name, value);
    else fields.delete(name);
  }

  return {
    ...ofOrders,
    ...ofBook,
    ...ofLedger,
    expiries,
    holdings,
    markets,
    granted: 0n,
    repaid: 0n,
    setExpiry,
    setHolding,
    setField,
    forgetOrder,
    accounts(): Set<string> {
      const all = new Set(cash.keys());
      for (const { maker } of orders.values()) all.add(maker);
      for (const holders of tokens.values()) for (const account of holders.keys()) all.add(account);
      return all;
    },
  };
}
