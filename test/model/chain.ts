import type { FaultReason } from '../../src/exchange/chain';

/**
 * A chain with wallets and the exchange contract, in micro-units: blocks keep the state after them, so a head can be taken back.
 * It knows nothing of the exchange's books, which must never count more than it.
 */
export interface ChainWallet {
  collateral: number;
  allowance: number;
  approved: boolean;
  nonce: number;
  /** It is a contract, which may refuse at any time. */
  hasCode: boolean;
  readonly tokens: Map<string, [yes: number, no: number]>;
}

/** One order in a match: the amounts that it gives and gets. */
export interface Party {
  readonly wallet: string;
  readonly side: 0 | 1;
  readonly outcome: 0 | 1;
  readonly lots: number;
  /** Collateral that it pays or gets. */
  readonly value: number;
  /** Collateral that the contract takes at first; the rest comes back. */
  readonly pulled: number;
  /** In the asset that it gets. */
  readonly fee: number;
}

export interface ChainMatch {
  readonly id: string;
  readonly market: string;
  readonly parties: readonly Party[];
}

export interface MatchResult {
  readonly match: ChainMatch;
  readonly fault: { readonly wallet: string; readonly reason: FaultReason } | null;
}

interface ChainBlock {
  readonly wallets: ReadonlyMap<string, ChainWallet>;
  readonly results: readonly MatchResult[];
  timeMs: number;
}

const MICRO_PER_LOT = 10_000;

export class ModelChain {
  private wallets = new Map<string, ChainWallet>();
  private results: MatchResult[] = [];
  private readonly blocks: ChainBlock[] = [];
  /** The time that the next block gets. */
  timeMs = 0;
  /** How often the chain branched off: part of the hashes of its blocks. */
  private branch = 0;
  private readonly branches: number[] = [];

  constructor() {
    this.mine();
  }

  get head(): number {
    return this.blocks.length;
  }

  hashAt(number: number): string {
    const text = `${number.toString(16)}-${this.branches[number - 1]}`;
    return `0x${Buffer.from(text).toString('hex').padStart(64, '0')}`;
  }

  /** The wallet in the block that is being made. */
  wallet(address: string): ChainWallet {
    const found = this.wallets.get(address);
    if (found) return found;
    const fresh = {
      collateral: 0,
      allowance: 0,
      approved: false,
      nonce: 0,
      hasCode: false,
      tokens: new Map(),
    };
    this.wallets.set(address, fresh);
    return fresh;
  }

  tokens(address: string, market: string): [number, number] {
    const { tokens } = this.wallet(address);
    const found = tokens.get(market) ?? [0, 0];
    tokens.set(market, found);
    return found;
  }

  /** Whether a transaction with the match is in a block, or in the one that is being made. */
  isSent(id: string): boolean {
    const all = [...this.blocks.flatMap(({ results }) => results), ...this.results];
    return all.some(({ match }) => match.id === id);
  }

  /** A transaction of the contract with one match. The operator sends none again that has run or failed. */
  settle(match: ChainMatch): MatchResult | null {
    if (this.isSent(match.id)) return null;
    const fault = this.faultOf(match);
    if (fault === null) for (const party of match.parties) this.move(match.market, party);
    const result = { match, fault };
    this.results.push(result);
    return result;
  }

  /** The first order that cannot be paid, as the contract finds it. */
  private faultOf({ market, parties }: ChainMatch): MatchResult['fault'] {
    const spent = new Map<string, number>();
    for (const { wallet, side, outcome, lots, pulled } of parties) {
      const { collateral, allowance, approved } = this.wallet(wallet);
      const asset = `${wallet} ${side === 0 ? 'cash' : outcome}`;
      const before = spent.get(asset) ?? 0;
      const need = before + (side === 0 ? pulled : lots * MICRO_PER_LOT);
      spent.set(asset, need);
      if (side === 0 && collateral < need) return { wallet, reason: 'COLLATERAL' };
      if (side === 0 && allowance < need) return { wallet, reason: 'ALLOWANCE' };
      if (side === 1 && !approved) return { wallet, reason: 'APPROVAL' };
      if (side === 1 && this.tokens(wallet, market)[outcome] < need) return { wallet, reason: 'TOKENS' };
    }
    return null;
  }

  private move(market: string, { wallet, side, outcome, lots, value, pulled, fee }: Party): void {
    const state = this.wallet(wallet);
    const tokens = this.tokens(wallet, market);
    if (side === 0) {
      state.collateral -= value;
      state.allowance -= pulled;
      tokens[outcome] += lots * MICRO_PER_LOT - fee;
    } else {
      tokens[outcome] -= lots * MICRO_PER_LOT;
      state.collateral += value - fee;
    }
  }

  /** Ends the block that is being made; returns its number. */
  mine(): number {
    this.blocks.push({ wallets: copyOf(this.wallets), results: this.results, timeMs: this.timeMs });
    this.branches.push(this.branch);
    this.results = [];
    return this.head;
  }

  /** Dates all blocks, as if the chain had gone on while a clock was moved. */
  date(ms: number): void {
    for (const block of this.blocks) block.timeMs = ms;
  }

  /** Takes the blocks after `number` back, with all that happened in them. */
  rollback(number: number): void {
    this.blocks.length = number;
    this.branches.length = number;
    this.branch++;
    this.results = [];
    this.wallets = copyOf(this.blockAt(number).wallets);
  }

  blockAt(number: number): ChainBlock {
    const block = this.blocks[number - 1];
    if (!block) throw new Error(`no block ${number}`);
    return block;
  }

  /** The results in the blocks after one up to another. */
  resultsIn(after: number, to: number): (MatchResult & { readonly block: number })[] {
    const numbers = Array.from({ length: Math.max(0, to - after) }, (_, i) => after + 1 + i);
    return numbers.flatMap((block) => this.blockAt(block).results.map((result) => ({ ...result, block })));
  }

  at(number: number, address: string): ChainWallet {
    return (
      this.blockAt(number).wallets.get(address) ?? {
        collateral: 0,
        allowance: 0,
        approved: false,
        nonce: 0,
        hasCode: false,
        tokens: new Map(),
      }
    );
  }
}

const copyOf = (wallets: ReadonlyMap<string, ChainWallet>): Map<string, ChainWallet> =>
  new Map(
    [...wallets].map(([address, wallet]) => [
      address,
      { ...wallet, tokens: new Map([...wallet.tokens].map(([id, both]) => [id, [...both]])) },
    ]),
  );

type Moves = { collateral: number; pulled: number; tokens: Map<string, [number, number]> };

/** The amounts of a wallet that matches moved. */
export function movesOf(results: readonly MatchResult[], address: string): Moves {
  const moves: Moves = { collateral: 0, pulled: 0, tokens: new Map() };
  for (const { match, fault } of results) {
    for (const { wallet, side, outcome, lots, value, pulled, fee } of fault ? [] : match.parties) {
      if (wallet !== address) continue;
      const tokens = moves.tokens.get(match.market) ?? [0, 0];
      moves.tokens.set(match.market, tokens);
      moves.collateral += side === 0 ? -value : value - fee;
      moves.pulled += side === 0 ? pulled : 0;
      tokens[outcome] += side === 0 ? lots * MICRO_PER_LOT - fee : -lots * MICRO_PER_LOT;
    }
  }
  return moves;
}
