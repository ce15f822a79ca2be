import { type Block, type Blocks, UNSETTLED_MAX } from '../../../chain/blocks';
import type { BlockRef, ConvertedTokens, SettlementEvent, WalletReading } from '../../../exchange/chain';
import type { MinedSettlement } from '../../../store/settlement/mined';
import type { Conversion, ConversionReader } from '../contracts/conversions';
import type { EventReader, ExchangeEvents, SettledMatch, Withdrawal } from '../contracts/exchange-events';
import type { WalletReader } from '../contracts/wallet-reader';
import {
  addMoved,
  addWallet,
  asQueries,
  byWallet,
  isWorse,
  type Pair,
  type Queries,
  without,
} from './exposure';
import { createGathering, eventsIn, type Happened } from './gathering';
import { othersIn, type ReadRecorded } from './recorded';

/** A wallet with funds that are reserved or out, and its markets with such tokens. */
export interface ExposedWallet {
  readonly address: string;
  readonly marketIds: readonly string[];
}

/** The ledger of a chain, as far as the observer needs it. */
export interface ObservedLedger {
  /** The last final block that the ledger has; null before the first. */
  finalBlock(): Promise<BlockRef | null>;
  exposed(): Promise<readonly ExposedWallet[]>;
  /**
   * Moves the ledger from one final block to a later one: the state of wallets, and the settlements in between that are now
   * final. Returns false when the ledger is no longer at `from`, because another observer moved it.
   */
  observeBlock(
    from: BlockRef | null,
    to: BlockRef,
    readings: readonly WalletReading[],
    events: readonly SettlementEvent[],
    converted: readonly ConvertedTokens[],
  ): Promise<boolean>;
  /**
   * Notes the state of wallets at the head, as it would be without the moves of our own contract after the block `final`. It only
   * lowers what they may spend, and does nothing when the ledger is at another final block.
   */
  capWallets(final: BlockRef, head: BlockRef, readings: readonly WalletReading[]): Promise<boolean>;
  /** Notes the settlements in blocks after the final one, in place of those noted before. */
  noteMined(settlements: readonly MinedSettlement[]): Promise<void>;
}

export interface ObservationParts {
  readonly blocks: Blocks;
  readonly events: EventReader;
  readonly conversions: ConversionReader;
  readonly wallets: WalletReader;
  readonly ledger: ObservedLedger;
  /** The ids of a market's tokens: Yes, No; null for a market that the books lack. */
  readonly tokensOf: (marketId: string) => Promise<Pair | null>;
  /** The market of a condition; null for one that the books lack. */
  readonly marketOf: (
    conditionId: string,
  ) => Promise<{ readonly id: string; readonly tokenIds: Pair } | null>;
  readonly recorded: ReadRecorded;
  /**
   * Called before the ledger takes a block in which the contract settled something else under the name of a match. The match itself
   * can never be settled then, and ends as FAILED.
   */
  readonly onOther: (settled: readonly SettledMatch[]) => Promise<unknown>;
  /** Takes out of the book what wallets withdrew on the chain; it may be called again with the same withdrawals. */
  readonly withdraw: (withdrawals: readonly Withdrawal[]) => Promise<void>;
  /** An empty ledger also takes what happened after this block, so that matches that it lost are reported; null: nothing. */
  readonly startBlock?: number | null;
}

export interface Observation {
  /** One step towards the newest final block; returns true when there was a step to make. Throws OtherChain. */
  stepFinal(): Promise<boolean>;
  /** Compares the head with the final block; returns true when it was another head than before. */
  stepHead(): Promise<boolean>;
  state(): ObservationState;
}

export interface ObservationState {
  readonly final: BlockRef | null;
  readonly head: BlockRef | null;
  readonly exposed: number;
  /** Wallets with less at the head than in the final block. */
  readonly limited: number;
  /** The number of blocks that the last change of the head took back. */
  readonly reorgDepth: number;
  /** Since the start: the blocks that all changes took back, and the most that one did. */
  readonly reorgedBlocks: number;
  readonly reorgDepthMax: number;
}

export function createObservation(parts: ObservationParts): Observation {
  const { blocks, events, wallets, ledger, tokensOf, recorded, onOther, withdraw, startBlock = null } = parts;
  let final: BlockRef | null = null;
  let head: BlockRef | null = null;
  let path: readonly Block[] = [];
  let exposed = 0;
  /** After an absence, until the ledger has the newest final block. */
  let isBehind = false;
  let [reorgDepth, reorgedBlocks, reorgDepthMax] = [0, 0, 0];
  /** The last final state of each exposed wallet, with which that at the head is compared. */
  let finalReadings: ReadonlyMap<string, WalletReading> = new Map();
  let limited: ReadonlySet<string> = new Set();
  const { gather } = createGathering(blocks, events, parts.conversions);

  const read = (at: BlockRef, queries: Queries): Promise<readonly WalletReading[]> =>
    wallets.read(at, asQueries(queries));

  async function exposedQueries(): Promise<Queries> {
    const queries: Queries = new Map();
    const list = await ledger.exposed();
    for (const { address, marketIds } of list) {
      const markets = addWallet(queries, address);
      for (const marketId of marketIds) {
        const pair = await tokensOf(marketId);
        if (!pair) throw new Error(`the wallet ${address} has tokens of the unknown market ${marketId}`);
        markets.set(marketId, pair);
      }
    }
    exposed = list.length;
    return queries;
  }

  /** Adds the wallets of the settlements, also with the tokens that these brought. The ledger reports those of unknown markets. */
  async function addParticipants(queries: Queries, happened: readonly ExchangeEvents[]): Promise<void> {
    const ids = new Set(happened.flatMap(({ settled }) => settled.map(({ marketId }) => marketId)));
    const markets = new Map<string, Pair>();
    for (const id of ids) {
      const pair = await tokensOf(id);
      if (pair) markets.set(id, pair);
    }
    for (const { moves } of happened) addMoved(queries, moves, markets);
  }

  /** The conversions in markets of the exchange. */
  async function convertedIn(conversions: readonly Conversion[]): Promise<ConvertedTokens[]> {
    const found = await Promise.all(
      conversions.map(
        async ({ kind, wallet, conditionId, collateral, burnt }): Promise<ConvertedTokens[]> => {
          const market = await parts.marketOf(conditionId);
          if (!market) return [];
          const [yes, no] = market.tokenIds.map((id) =>
            kind === 'REDEEM' ? (burnt.get(BigInt(id)) ?? 0n) : collateral,
          ) as [bigint, bigint];
          return [{ kind, wallet, marketId: market.id, collateral, yes, no }];
        },
      ),
    );
    return found.flat();
  }

  /** Where an empty ledger begins, when that is before the newest final block. */
  async function beginning(newest: BlockRef): Promise<BlockRef | null> {
    if (startBlock === null || startBlock >= newest.number) return null;
    const block = await blocks.byNumber(startBlock);
    if (block === null)
      throw new Error(
        `a majority of the nodes must know block ${startBlock} of CHAIN_START_BLOCK: it does not`,
      );
    return block;
  }

  async function stepFinal(): Promise<boolean> {
    final = await ledger.finalBlock();
    const newest = await blocks.final();
    const from = final ?? (await beginning(newest));
    const stretch = from ? await gather(from, newest) : { to: newest, happened: [], conversions: [] };
    isBehind = stretch === null;
    if (stretch === null) return true;
    const { to, happened, conversions } = stretch;
    if (to.hash === final?.hash) return false;
    const withdrawals = happened.flatMap((one) => one.withdrawals);
    await withdraw(withdrawals);
    const raised = raisedBy(withdrawals);
    const queries = await exposedQueries();
    await addParticipants(queries, happened);
    for (const wallet of raised.keys()) addWallet(queries, wallet);
    const readings = withNonces(await read(to, queries), raised);
    const others = await othersIn(happened, recorded);
    if (others.size > 0) await onOther([...others]);
    const results = happened.flatMap((one) => resultsOf(one, others));
    const converted = await convertedIn(conversions);
    if (!(await ledger.observeBlock(final, to, readings, results, converted))) return true;
    final = to;
    finalReadings = new Map(readings.map((reading) => [reading.address, reading]));
    return true;
  }

  async function stepHead(): Promise<boolean> {
    if (!final || isBehind) return false;
    const newest = await blocks.head();
    // The same head; or an older one of its branch, from another node, which lacks the bad news of the newer one.
    if (path.some(({ hash }) => hash === newest.hash)) return false;
    // While finality is so late, no order is accepted.
    if (newest.number > final.number + UNSETTLED_MAX || newest.number <= final.number) return false;
    const unsettled = await blocks.unsettled(final, newest);
    if (unsettled === null)
      throw new Error(`block ${newest.number} does not descend from block ${final.number}`);
    const happened = await eventsIn(events, unsettled);
    const moves = byWallet(happened.flatMap((one) => one.moves));
    const queries = await exposedQueries();
    const readings = (await read(newest, queries)).map((reading) =>
      without(moves.get(reading.address) ?? [], reading, queries.get(reading.address) ?? new Map()),
    );
    const worse = readings.filter((one) => isWorse(one, finalReadings.get(one.address)));
    const names = new Set(worse.map(({ address }) => address));
    const better = readings.filter(({ address }) => limited.has(address) && !names.has(address));
    if (!(await ledger.capWallets(final, newest, [...worse, ...better]))) return true;
    await ledger.noteMined(unsettled.flatMap((block, i) => minedIn(block, happened[i])));
    limited = names;
    noteHead(newest, unsettled);
    return true;
  }

  function noteHead(newest: Block, unsettled: readonly Block[]): void {
    const kept = new Set(unsettled.map(({ hash }) => hash));
    const above = final?.number ?? 0;
    reorgDepth = path.filter(({ number, hash }) => number > above && !kept.has(hash)).length;
    reorgedBlocks += reorgDepth;
    reorgDepthMax = Math.max(reorgDepthMax, reorgDepth);
    head = newest;
    path = unsettled;
  }

  return {
    stepFinal,
    stepHead,
    state: () => ({
      final,
      head,
      exposed,
      limited: limited.size,
      reorgDepth,
      reorgedBlocks,
      reorgDepthMax,
    }),
  };
}

/** By wallet: the nonce that it raised. */
const raisedBy = (withdrawals: readonly Withdrawal[]): ReadonlyMap<string, bigint> =>
  new Map(withdrawals.flatMap((one) => (one.kind === 'nonce' ? [[one.wallet, one.minNonce] as const] : [])));

/**
 * The readings with the nonces that will hold soon: the contract knows a raised nonce at once, and follows the old one for two
 * minutes. The books keep the higher one, so each is needed once, with the block that has its event: an order below it might fail
 * the match that it is in.
 */
const withNonces = (
  readings: readonly WalletReading[],
  raised: ReadonlyMap<string, bigint>,
): readonly WalletReading[] =>
  readings.map((reading) => {
    const soon = raised.get(reading.address) ?? 0n;
    return soon > reading.minNonce ? { ...reading, minNonce: soon } : reading;
  });

const minedIn = ({ number: blockNumber }: Block, happened: ExchangeEvents | undefined): MinedSettlement[] =>
  (happened?.settled ?? []).map(({ marketId, sequence, part, transactionHash }) => ({
    marketId,
    sequence,
    part,
    transactionHash,
    blockNumber,
  }));

/**
 * The settlements that a final block ended. A match that failed through no wallet's fault is no end: the operator sends it
 * again.
 */
function resultsOf(
  { settled, failed, number: blockNumber }: Happened,
  others: ReadonlySet<SettledMatch>,
): SettlementEvent[] {
  const over = settled.map((one): SettlementEvent => {
    const { marketId, sequence, part, transactionHash } = one;
    const name = { marketId, sequence, part, transactionHash, blockNumber };
    return others.has(one)
      ? { ...name, result: 'FAILED', fault: { wallet: '', reason: 'UNKNOWN' } }
      : { ...name, result: 'CONFIRMED', fault: null };
  });
  const spoilt = failed.flatMap(
    ({ marketId, sequence, part, transactionHash, failure }): SettlementEvent[] => {
      const { wallet, reason } = failure;
      // The collateral refused a transfer that the wallet could pay. The operator looks again: does it refuse all of them?
      if (wallet === null || reason === 'CALLBACK') return [];
      const name = { marketId, sequence, part, transactionHash, blockNumber };
      return [{ ...name, result: 'FAILED', fault: { wallet, reason } }];
    },
  );
  return [...over, ...spoilt];
}
