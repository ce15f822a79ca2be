import type { BlockRef } from '../../../../src/exchange/chain';
import { Refusal } from '../../../../src/exchange/errors';
import type { OrderType } from '../../../../src/exchange/status';
import type { ChainWallet } from '../../../model/chain';
import type { ChainBooks } from '../../../support/chain-books';
import type { Random } from '../../../support/random';
import { endOldNonces } from './fuzz-chores';
import {
  ASSETS,
  assetOf,
  differences,
  explainCancels,
  type FuzzModel,
  MARKETS,
  type Sums,
  sumsOf,
} from './fuzz-model';
import { FuzzStanding } from './fuzz-standing';
import { fund } from './with-books';

export const WALLETS = Array.from({ length: 5 }, (_, i) => `0x${String(i + 1).repeat(40)}`);
const REASONS_OF_FUNDS = new Set(['INSUFFICIENT_BALANCE', 'INSUFFICIENT_ALLOWANCE']);
/** The depth of a final block below the head. */
export const FINALITY = 2;

/** Random operations on books and model, each of which checks what it can see. */
export class Fuzz {
  private readonly standing: FuzzStanding;
  /** The last block in which a wallet changed without the exchange. */
  private readonly touched = new Map<string, number>();

  constructor(
    readonly books: ChainBooks,
    readonly model: FuzzModel,
    private readonly random: Random,
    private readonly count: (what: string) => void,
    limitMicro: number,
  ) {
    this.standing = new FuzzStanding(books, limitMicro);
  }

  async begin(): Promise<void> {
    for (const id of MARKETS) await this.books.market(id);
    for (const wallet of WALLETS) for (const id of MARKETS) fund(this.books, wallet, 50, 50, id);
    this.books.chain.wallet(WALLETS.at(-1) ?? '').hasCode = true;
    await this.books.observe(this.books.chain.mine());
  }

  step(): Promise<string> {
    const kind = this.random.weighted({
      order: 40,
      cancel: 5,
      wallet: 12,
      settle: 15,
      mine: 12,
      head: 8,
      final: 10,
      partly: 3,
      late: 2,
      rollback: 2,
      void: 3,
      time: 4,
    });
    return this[kind]();
  }

  async compare(): Promise<void> {
    await this.invalidate();
    const found = await differences(this.books, this.model, WALLETS);
    if (found.length > 0) throw new Error(found.slice(0, 5).join('\n'));
  }

  private async order(): Promise<string> {
    const { random } = this;
    const side = random.pick([0, 1] as const);
    const [wallet, outcome, market] = [
      random.pick(WALLETS),
      random.pick([0, 1] as const),
      random.pick(MARKETS),
    ];
    const type = random.weighted({ GTC: 12, IOC: 2, FOK: 1, POST_ONLY: 1, MARKET: 1 });
    const [size, price] = [random.int(1, 4000), random.int(30, 70)];
    return this.submit(wallet, side, market, outcome, size, price, type);
  }

  /** Places an order, of `size` lots at a price in cents, and checks the answer as far as it is about funds. */
  async submit(
    wallet: string,
    side: 0 | 1,
    market: string,
    outcome: 0 | 1,
    size: number,
    price: number,
    type: OrderType = 'GTC',
  ): Promise<string> {
    const { books } = this;
    const terms = [outcome, `${size / 100}`, `0.${String(price).padStart(2, '0')}`] as const;
    const budget = type === 'MARKET' && side === 0 ? `${(size * price) / 1e4}` : '0';
    const nonce = this.model.nonceOf(wallet);
    const more = { market, type, budget, nonce };
    const request = (side === 0 ? books.buy : books.sell)(wallet, ...terms, more);
    const asset = assetOf(side, market, outcome);
    const before = await sumsOf(books, [wallet]);
    const unsettled = this.standing.unsettled(wallet);
    const sum = (part: 'reserved' | 'out') => before[part].get(`${wallet} ${asset}`) ?? 0;
    const code = await books.place(request).then(
      ({ fills, record }) => (fills.length > 0 ? `matched ${fills[0]?.matchType}` : record.status),
      (error: unknown) => {
        if (error instanceof Refusal) return error.code;
        throw error;
      },
    );
    this.count(code);
    const free = this.model.means(wallet, asset) - sum('reserved') - sum('out');
    const required = side === 0 ? size * price * 100 : size * 10_000;
    const isSuspended = this.standing.isSuspended(wallet);
    const told = `order of ${wallet} with ${free} free for ${required} of ${asset}: ${code}`;
    // The order may have been the reason to read the wallet.
    const isOld = nonce < this.model.nonceOf(wallet);
    if ((code === 'INVALID_NONCE_VALUE') !== isOld) throw new Error(`${told}, nonce ${nonce}`);
    if (isOld) return told;
    if ((code === 'WALLET_SUSPENDED') !== isSuspended) throw new Error(`${told}, suspended ${isSuspended}`);
    if (isSuspended) return told;
    if (REASONS_OF_FUNDS.has(code) !== free < required) throw new Error(told);
    const isTooMuch = free >= required && this.standing.passesLimit(wallet, required, unsettled, before);
    if ((code === 'UNSETTLED_LIMIT') !== isTooMuch) throw new Error(`${told}, ${unsettled} unsettled`);
    return told;
  }

  private async cancel(): Promise<string> {
    const hash = [...this.books.requests.keys()].at(-this.random.int(1, 30));
    const request = hash && this.books.requests.get(hash);
    if (!request) return 'cancel of nothing';
    await this.books.engine.cancel(null, request.maker, hash, 'USER').catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
    });
    return `cancel of ${hash}`;
  }

  /** A wallet moves funds, or changes its approvals, without the exchange. */
  private async wallet(): Promise<string> {
    const { random, books } = this;
    const address = random.pick(WALLETS);
    const state = this.touch(address);
    const kind = random.weighted({ pay: 3, drain: 1, top: 4, allow: 1, approve: 1, tokens: 3, nonce: 1 });
    if (kind === 'pay') state.collateral -= Math.min(state.collateral, random.int(0, 30e6));
    if (kind === 'drain') state.collateral = 0;
    if (kind === 'nonce') state.nonce++;
    if (kind === 'top') state.collateral += random.int(0, 40e6);
    if (kind === 'allow') state.allowance = random.pick([0, 10e6, 9e12, 9e12]);
    if (kind === 'approve') state.approved = random.chance(0.7);
    if (kind === 'tokens') {
      const both = books.chain.tokens(address, random.pick(MARKETS));
      const outcome = random.pick([0, 1] as const);
      both[outcome] = Math.max(0, both[outcome] + random.int(-30e6, 40e6));
    }
    return `wallet ${address} ${kind}`;
  }

  /** The wallet, which is about to change without the exchange. */
  touch(address: string): ChainWallet {
    this.touched.set(address, this.books.chain.head + 1);
    return this.books.chain.wallet(address);
  }

  private async settle(): Promise<string> {
    const { random, books } = this;
    const all = [...books.waiting.values()].filter(() => random.chance(0.6));
    for (const { match } of all) books.chain.settle(match);
    return `settle of ${all.length} matches`;
  }

  private async mine(): Promise<string> {
    return `mine of block ${this.books.chain.mine()}`;
  }

  async head(): Promise<string> {
    const before = await this.funded();
    await this.books.lookAtHead();
    await this.explainCancels(before, new Set());
    for (const wallet of WALLETS) {
      const capped = ASSETS.filter((asset) => {
        const { cap, block, held } = this.model.numbersOf(wallet, asset);
        const known = Math.min(block, this.model.numbersOf(wallet, 'cash').block);
        // A cap of an earlier head, which was taken back since, stays until its number is final.
        const isNew = cap?.block === this.books.chain.head && cap.amount < held;
        return isNew && (this.touched.get(wallet) ?? 0) <= known;
      });
      if (capped.length > 0) throw new Error(`${wallet} only traded, and has a cap of ${capped}`);
    }
    return `head at ${this.books.chain.head}`;
  }

  /** The next final blocks, all at once. */
  async final(): Promise<string> {
    const { books } = this;
    const [after, to] = [books.final()?.number ?? 0, books.chain.head - FINALITY];
    if (to <= after) return 'final block as before';
    const before = await this.funded();
    const events = books.eventsIn(after, to);
    this.before = books.final();
    const guilty = this.judge(after, to);
    const observed = await books.observe(to, events);
    if (observed.settled !== events.length)
      throw new Error(`${observed.settled} of ${events.length} settled`);
    await this.explainCancels(before, guilty);
    this.count(`confirmed ${events.some(({ result }) => result === 'CONFIRMED')}`);
    return `final block ${to}`;
  }

  /** An observer that forgot to read the wallets: no match may be confirmed, and those that failed give back. */
  async partly(): Promise<string> {
    const { books } = this;
    const from = books.final();
    const [after, to] = [from?.number ?? 0, books.chain.head - FINALITY];
    const results = books.chain.resultsIn(after, Math.max(to, after));
    if (results.length === 0 || results.some(({ fault }) => fault)) return 'partly nothing';
    const events = books.eventsIn(after, to);
    const early = await books.observing.observeBlock(from, books.blockRef(to), [], events);
    if (events.length > 0 && (early.settled > 0 || early.unread.length === 0))
      throw new Error(`${early.settled} settled without a reading`);
    this.judge(after, to);
    const before = await this.funded();
    const whole = await books.observe(to, events);
    if (whole.settled !== events.length)
      throw new Error(`${whole.settled} of ${events.length} settled later`);
    await this.explainCancels(before, new Set());
    return `partly block ${to}`;
  }

  /** Notes in the model what final results mean. Returns the guilty wallets. */
  private judge(after: number, to: number): Set<string> {
    const guilty = new Set<string>();
    for (const { match, fault } of this.books.chain.resultsIn(after, to)) {
      if (fault) {
        this.count('failed');
        guilty.add(fault.wallet);
        this.standing.strike(fault.wallet);
      } else {
        this.confirmed.push([match.market, match.parties]);
        this.standing.settle(match.parties);
      }
    }
    return guilty;
  }

  /** The final block before the present one. */
  private before: BlockRef | null = null;
  private confirmed: Parameters<FuzzModel['confirm']>[] = [];

  private async invalidate(): Promise<void> {
    if ((await endOldNonces(this.books, this.model)) > 0) this.count('nonce raised');
  }

  /** Another observer, who is late: its numbers of the head are without the moves after an earlier final block. */
  async late(): Promise<string> {
    const { books, before } = this;
    if (!before || books.chain.head <= (books.final()?.number ?? 0)) return 'late look at nothing';
    if (await books.lookLate(before)) throw new Error('numbers counted that belong to another final block');
    return `late look at ${books.chain.head}`;
  }

  private async rollback(): Promise<string> {
    const { books, random } = this;
    const final = books.final()?.number ?? 0;
    const to = Math.max(final, books.chain.head - random.int(1, 3));
    if (to >= books.chain.head) return 'rollback of nothing';
    books.chain.rollback(to);
    return `rollback to ${to}`;
  }

  /** A match that was never sent and cannot be paid ends without the chain. */
  private async void(): Promise<string> {
    const { books, random } = this;
    const all = [...books.waiting].filter(([id]) => !books.chain.isSent(id));
    if (all.length === 0) return 'void of nothing';
    const [id, { key, match }] = random.pick(all);
    const wallet = random.pick(match.parties).wallet;
    const isGuilty = random.chance(0.2);
    const fault = isGuilty ? ({ wallet, reason: 'COLLATERAL' } as const) : null;
    await books.observing.voidSettlement(key, fault, books.chain.head);
    books.waiting.delete(id);
    if (isGuilty) this.standing.strike(wallet);
    return `void of ${id} by ${wallet}`;
  }

  private async time(): Promise<string> {
    const { books, random } = this;
    await books.clock(books.now() + (random.chance(0.3) ? 86_400_000 : random.int(1, 25_000)));
    books.chain.date(books.now());
    await books.redis.hset(books.keys.cursor, { finalNotedMs: books.now(), finalMs: books.now() });
    return 'time';
  }

  /** The open orders, by wallet and asset. */
  private async funded() {
    return sumsOf(this.books, WALLETS);
  }

  private async explainCancels(before: Sums, guilty: ReadonlySet<string>): Promise<void> {
    for (const one of this.confirmed.splice(0)) this.model.confirm(...one);
    const after = await this.funded();
    explainCancels(this.model, WALLETS, { before, after, guilty }, this.count);
  }
}
