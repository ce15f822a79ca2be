import { createHash } from 'node:crypto';
import type { BlockRef, SettlementEvent, WalletReading } from '../../src/exchange/chain';
import { SETTLEMENT_MAKERS_MAX, type Settlement, settlementsOf } from '../../src/exchange/settlement';
import { micro, parseLots, parsePips } from '../../src/exchange/units';
import { createChainAccounts } from '../../src/extensions/chain/store/accounts';
import { noteFunds } from '../../src/extensions/chain/store/funds';
import { createObserving } from '../../src/extensions/chain/store/observing';
import { type SettlementKey, settlementId } from '../../src/store/records/settlement';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { createSettlements } from '../../src/store/settlement/settlements';
import { createEngine } from '../../src/store/verbs/engine';
import type { PlaceReply, PlaceRequest } from '../../src/store/verbs/place';
import { type ChainMatch, ModelChain, movesOf, type Party } from '../model/chain';
import { signedAs } from '../store/fuzzing/requests';
import { CLOCK_KEY, FAKE_CLOCK, type Patch, patchedScripts } from '../store/fuzzing/scripts';
import { parseMicro } from './engine-world';
import { READY_MS } from './waiting';

/** 18 decimals: 10^12 chain units are a micro-unit. */
const MICRO_UNITS = 10n ** 12n;
export const SCALE = { lotAmount: 10n ** 16n, microAmount: MICRO_UNITS, oneAmount: 10n ** 18n } as const;
/** Less than a micro-unit: every balance of the chain has it, and the books must not. */
const DUST = 999_999_999_999n;
const START_MS = 1_800_000_000_000;
const CONTRACT = `0x${'ee'.repeat(20)}`;

export interface ChainBooksOptions {
  readonly url: string;
  readonly patches?: readonly Patch[];
  /** How the contract takes the collateral of a taker. */
  readonly hold?: 'cost' | 'limit';
  readonly unsettledMaxNew?: string;
  /** Funds that came lately and count at once; by default any. */
  readonly freshMax?: string;
  readonly feeRateBps?: number;
  /** A planted bug: at the head the observer does not know the moves of the own contract. */
  readonly isBlind?: boolean;
  /** Called with the readings that the books are about to get. */
  readonly onReadings?: (kind: 'final' | 'head', block: number, readings: readonly WalletReading[]) => void;
  readonly makersMax?: number;
}

export interface MoreTerms {
  readonly type?: PlaceRequest['orderType'];
  readonly expires?: number;
  readonly nonce?: number;
  readonly market?: string;
  readonly dryRun?: boolean;
  readonly budget?: string;
  readonly address?: string;
}

export type ChainBooks = Awaited<ReturnType<typeof openChainBooks>>;

/** The books of an exchange with funds on a modelled chain, on an emptied Redis whose scripts read the time from a key. */
export async function openChainBooks(options: ChainBooksOptions) {
  const { url, patches = [], hold = 'cost', unsettledMaxNew = '0', feeRateBps = 0 } = options;
  const { onReadings = () => {}, isBlind = false } = options;
  const redis = connect({ urls: [url] });
  await ready(redis, READY_MS);
  await redis.flushall();
  const keys = createKeys();
  const run = createScripts(redis, patchedScripts([FAKE_CLOCK, ...patches], 'chain'));
  const accounts = createChainAccounts({ redis, run, keys });
  const observing = createObserving({ redis, run, keys, scale: SCALE });
  const settlements = createSettlements({ redis, run, keys, funds: 'chain' });
  const chain = new ModelChain();
  const requests = new Map<string, PlaceRequest>();
  /** Matches without a final record, by id. */
  const waiting = new Map<string, { readonly key: SettlementKey; readonly match: ChainMatch }>();
  const seen: string[] = [];
  let nowMs = START_MS;
  let serial = 0;
  let final: BlockRef | null = null;

  const clock = async (ms: number): Promise<void> => {
    nowMs = ms;
    chain.timeMs = ms;
    await redis.set(CLOCK_KEY, ms);
  };
  await clock(nowMs);
  await noteFunds(run, keys, { chainId: 97, exchange: CONTRACT, hold });

  const blockRef = (number: number): BlockRef => ({
    number,
    hash: chain.hashAt(number),
    timeMs: chain.blockAt(number).timeMs,
  });

  /** `without` is added to the amounts: the moves of the own contract that the books do not have yet. */
  function reading(
    address: string,
    markets: readonly string[],
    block: number,
    without = block,
  ): WalletReading {
    const now = chain.at(block, address);
    const own = movesOf(chain.resultsIn(without, block), address);
    // A wallet may have spent at the head what a match brought there.
    const units = (amount: number) => BigInt(Math.max(0, amount)) * MICRO_UNITS + DUST;
    return {
      address,
      collateral: {
        balance: units(now.collateral - own.collateral),
        allowance: units(now.allowance + own.pulled),
      },
      approvedForAll: now.approved,
      minNonce: BigInt(now.nonce),
      hasCode: now.hasCode,
      tokens: markets.map((marketId) => {
        const [yes, no] = now.tokens.get(marketId) ?? [0, 0];
        const [yesMoved, noMoved] = own.tokens.get(marketId) ?? [0, 0];
        return { marketId, balances: [units(yes - yesMoved), units(no - noMoved)] as const };
      }),
    };
  }

  async function see(wallet: string, marketId: string): Promise<void> {
    seen.push(wallet);
    if (!final) return;
    const readings = [reading(wallet, [marketId], final.number)];
    onReadings('final', final.number, readings);
    await observing.observeWallets(final, readings);
  }

  const engine = createEngine({
    run,
    keys,
    grantMicro: micro(0),
    makersMax: options.makersMax ?? 500,
    chain: {
      unsettledMaxNewMicro: parseMicro(unsettledMaxNew),
      freshMaxMicro: parseMicro(options.freshMax ?? '0'),
      see,
      approval: (asset) => ({ token: asset === 'COLLATERAL' ? '0xc0' : '0xc7', spender: CONTRACT }),
    },
  });

  async function market(id = 'market00', document = '{}'): Promise<string> {
    await engine.createMarket({ id, conditionId: `0x${id}`, slug: id }, document, 'OPEN');
    return id;
  }

  type Terms = readonly [outcome: 0 | 1, size: string, price: string, more?: MoreTerms];
  function order(side: 0 | 1, maker: string, ...[outcome, size, price, more = {}]: Terms): PlaceRequest {
    const signed = signedAs(`order ${serial++}`, more.nonce ?? 0);
    const request: PlaceRequest = {
      marketId: more.market ?? 'market00',
      orderHash: `0x${createHash('sha256').update(signed).digest('hex')}`,
      maker,
      order: {
        side,
        outcome,
        pricePips: parsePips(price),
        sizeLots: parseLots(size),
        budgetMicro: parseMicro(more.budget ?? '0'),
      },
      orderType: more.type ?? 'GTC',
      selfTradePrevention: 'NONE',
      expirationSec: more.expires ?? 0,
      nonce: more.nonce ?? 0,
      feeRateBps,
      lotLots: parseLots('0.01'),
      deadlineMs: 0,
      clientOrderId: null,
      signed,
      dryRun: more.dryRun ?? false,
      address: more.address ?? '',
    };
    requests.set(request.orderHash, request);
    return request;
  }

  /** Books an order, and writes the records of its match. */
  async function place(request: PlaceRequest): Promise<PlaceReply> {
    const reply = await engine.place(request);
    if (!request.dryRun) await recordMatch(request, reply);
    return reply;
  }

  async function recordMatch(request: PlaceRequest, { fills: all, replayed }: PlaceReply): Promise<void> {
    if (replayed) return;
    // Each step of a submission is a match.
    for (const sequence of new Set(all.map((fill) => fill.sequence))) {
      const fills = all.filter((fill) => fill.sequence === sequence);
      const ref = { marketId: request.marketId, tradeMs: fills[0]?.tradeMs ?? 0, sequence };
      const made = settlementsOf(matchOf(request, fills), SCALE, 'chain');
      await settlements.record(
        made.map((settlement) => ({ ref, settlement })),
        'MATCHED',
      );
      for (const settlement of made) noteMatch(ref, request, fills, settlement);
    }
  }

  const requestOf = (hash: string): PlaceRequest => {
    const found = requests.get(hash);
    if (!found) throw new Error(`no order ${hash}`);
    return found;
  };

  function matchOf(taker: PlaceRequest, fills: PlaceReply['fills']) {
    const terms = ({ orderHash, order: { side, pricePips } }: PlaceRequest) => ({
      orderHash,
      side,
      pricePips,
    });
    return {
      taker: terms(taker),
      isBudget: taker.order.budgetMicro > 0,
      fills: fills.map((fill) => ({ ...fill, maker: terms(requestOf(fill.makerHash)) })),
      feeRateBps,
    };
  }

  /** The amounts of the parties, from the terms of the orders alone. */
  function noteMatch(
    ref: { marketId: string; sequence: number },
    taker: PlaceRequest,
    fills: PlaceReply['fills'],
    { part, takerFillAmount, takerFeeAmount, makerFeeAmounts }: Settlement,
  ): void {
    const own = fills.slice(part * SETTLEMENT_MAKERS_MAX.chain, (part + 1) * SETTLEMENT_MAKERS_MAX.chain);
    const key = { marketId: ref.marketId, sequence: ref.sequence, part };
    const lotsOf = own.reduce((sum, { sizeLots }) => sum + sizeLots, 0);
    const value = own.reduce((sum, { sizeLots, pricePips }) => sum + sizeLots * pricePips, 0);
    const atLimit = Number(takerFillAmount / MICRO_UNITS);
    const party = ({ maker: wallet, order: { side, outcome } }: PlaceRequest) => ({ wallet, side, outcome });
    const parties: Party[] = own.map(({ makerHash, sizeLots }, i) => {
      const maker = requestOf(makerHash);
      const paid = sizeLots * maker.order.pricePips;
      const fee = Number((makerFeeAmounts[i] ?? 0n) / MICRO_UNITS);
      return { ...party(maker), lots: sizeLots, value: paid, pulled: paid, fee };
    });
    const pulled = hold === 'limit' && taker.order.side === 0 ? atLimit : value;
    const fee = Number(takerFeeAmount / MICRO_UNITS);
    const id = settlementId(key);
    const match = {
      id,
      market: ref.marketId,
      parties: [{ ...party(taker), lots: lotsOf, value, pulled, fee }, ...parties],
    };
    waiting.set(id, { key, match });
  }

  /** Reads what an observer reads at the final block `to`, and takes it into the books. */
  async function observe(to: number, events = eventsIn(final?.number ?? 0, to)) {
    const queries = new Map<string, Set<string>>();
    const ask = (wallet: string, id?: string): void => {
      const markets = queries.get(wallet) ?? new Set();
      queries.set(wallet, id === undefined ? markets : markets.add(id));
    };
    for (const { address, marketIds } of await accounts.exposed()) {
      ask(address);
      for (const id of marketIds) ask(address, id);
    }
    for (const { match } of chain.resultsIn(final?.number ?? 0, to)) {
      for (const { wallet } of match.parties) ask(wallet, match.market);
    }
    const readings = [...queries].map(([wallet, markets]) => reading(wallet, [...markets], to));
    onReadings('final', to, readings);
    const observed = await observing.observeBlock(final, blockRef(to), readings, events);
    if (!observed.moved && observed.unread.length === 0) final = blockRef(to);
    return observed;
  }

  function eventsIn(after: number, to: number): SettlementEvent[] {
    return chain.resultsIn(after, to).flatMap(({ match, fault, block }) => {
      const found = waiting.get(match.id);
      if (!found) return [];
      waiting.delete(match.id);
      const transactionHash = `0x${createHash('sha256').update(match.id).digest('hex')}`;
      return [
        { ...found.key, result: fault ? 'FAILED' : 'CONFIRMED', transactionHash, blockNumber: block, fault },
      ];
    });
  }

  /** Reads the head as an observer does: without the moves of the own contract after the final block. */
  async function lookAtHead(): Promise<void> {
    const after = final?.number ?? 0;
    const readings = (await accounts.exposed()).map(({ address, marketIds }) =>
      reading(address, marketIds, chain.head, isBlind ? chain.head : after),
    );
    if (chain.head === after) return;
    onReadings('head', chain.head, readings);
    await observing.capWallets(final, blockRef(chain.head), readings);
  }

  /** The same of an observer for which `from` is still the final block; whether the books took it. */
  async function lookLate(from: BlockRef): Promise<boolean> {
    const readings = (await accounts.exposed()).map(({ address, marketIds }) =>
      reading(address, marketIds, chain.head, from.number),
    );
    return observing.capWallets(from, blockRef(chain.head), readings);
  }

  return {
    redis,
    run,
    keys,
    engine,
    accounts,
    observing,
    settlements,
    chain,
    waiting,
    seen,
    requests,
    clock,
    market,
    place,
    see,
    observe,
    lookAtHead,
    lookLate,
    reading,
    blockRef,
    eventsIn,
    buy: (maker: string, ...terms: Terms) => order(0, maker, ...terms),
    sell: (maker: string, ...terms: Terms) => order(1, maker, ...terms),
    now: () => nowMs,
    final: () => final,
    stop: () => disconnect(redis),
  };
}
