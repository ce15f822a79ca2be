import type { WalletReading } from '../../../../src/exchange/chain';
import type { Party } from '../../../model/chain';
import type { ChainBooks } from '../../../support/chain-books';

/**
 * The books as they must be for each wallet and asset, worked out from the readings that they got, the orders that rest and the
 * matches that are not final; and nothing else.
 */
export const MARKETS = ['market00', 'market01'];
const MICRO_PER_LOT = 10_000;
const MICRO_UNITS = 10n ** 12n;
/** `cash`, or a market and the index of an outcome. */
type Asset = string;
export const assetOf = (side: 0 | 1, market: string, outcome: 0 | 1): Asset =>
  side === 0 ? 'cash' : `${market} ${outcome}`;
export const ASSETS: readonly Asset[] = ['cash', ...MARKETS.flatMap((id) => [`${id} 0`, `${id} 1`])];

interface Numbers {
  balance: number;
  held: number;
  block: number;
  cap: { amount: number; block: number } | null;
}

export interface Sums {
  readonly reserved: Map<string, number>;
  readonly out: Map<string, number>;
  readonly pending: Map<string, number>;
}

const add = (sums: Map<string, number>, wallet: string, asset: Asset, amount: number): void => {
  const name = `${wallet} ${asset}`;
  sums.set(name, (sums.get(name) ?? 0) + amount);
};

export const takenBy = ({ side, lots, pulled }: Party): number =>
  side === 0 ? pulled : lots * MICRO_PER_LOT;
const broughtTo = ({ side, lots, value, fee }: Party): number =>
  (side === 0 ? lots * MICRO_PER_LOT : value) - fee;

export class FuzzModel {
  private readonly numbers = new Map<string, Numbers>();
  private readonly approved = new Map<string, boolean>();
  private readonly nonces = new Map<string, number>();

  numbersOf(wallet: string, asset: Asset): Numbers {
    const name = `${wallet} ${asset}`;
    const found = this.numbers.get(name) ?? { balance: 0, held: 0, block: 0, cap: null };
    this.numbers.set(name, found);
    return found;
  }

  take(kind: 'final' | 'head', block: number, readings: readonly WalletReading[]): void {
    for (const reading of readings) {
      const { address, collateral, approvedForAll, tokens } = reading;
      const micro = (amount: bigint) => Number(amount / MICRO_UNITS);
      const cash = [micro(collateral.balance), micro(collateral.allowance)] as const;
      if (kind === 'final') this.approve(address, approvedForAll, block);
      if (kind === 'final') this.raise(address, Number(reading.minNonce), block);
      this.note(kind, block, address, 'cash', cash[0], Math.min(...cash));
      for (const { marketId, balances } of tokens) {
        for (const outcome of [0, 1] as const) {
          const balance = micro(balances[outcome]);
          const asset = assetOf(1, marketId, outcome);
          this.note(kind, block, address, asset, balance, approvedForAll ? balance : 0);
        }
      }
    }
  }

  private raise(wallet: string, nonce: number, block: number): void {
    if (block >= this.numbersOf(wallet, 'cash').block)
      this.nonces.set(wallet, Math.max(nonce, this.nonceOf(wallet)));
  }

  nonceOf(wallet: string): number {
    return this.nonces.get(wallet) ?? 0;
  }

  /** An approval counts for the tokens of every market, also where these were read before. */
  private approve(wallet: string, isApproved: boolean, block: number): void {
    if (block < this.numbersOf(wallet, 'cash').block) return;
    this.approved.set(wallet, isApproved);
    for (const asset of ASSETS.slice(1)) {
      const numbers = this.numbersOf(wallet, asset);
      numbers.held = isApproved ? numbers.balance : 0;
    }
  }

  private note(
    kind: 'final' | 'head',
    block: number,
    wallet: string,
    asset: Asset,
    balance: number,
    held: number,
  ): void {
    const numbers = this.numbersOf(wallet, asset);
    if (kind === 'head') {
      numbers.cap = held < numbers.held ? { amount: held, block } : null;
    } else if (block >= numbers.block) {
      Object.assign(numbers, { balance, held, block });
      if (numbers.cap && numbers.cap.block <= block) numbers.cap = null;
    }
  }

  /** A match that is final has left the wallets: a cap from a later block contained its amounts, because they were out. */
  confirm(market: string, parties: readonly Party[]): void {
    for (const party of parties) {
      const { cap } = this.numbersOf(party.wallet, assetOf(party.side, market, party.outcome));
      if (cap) cap.amount = Math.max(0, cap.amount - takenBy(party));
    }
  }

  means(wallet: string, asset: Asset): number {
    const { held, cap } = this.numbersOf(wallet, asset);
    return Math.min(held, cap?.amount ?? held);
  }
}

/** The sums by wallet and asset of resting orders and of matches that are not final. */
export async function sumsOf(books: ChainBooks, wallets: readonly string[]): Promise<Sums> {
  const sums: Sums = { reserved: new Map(), out: new Map(), pending: new Map() };
  for (const wallet of wallets) {
    const raw = Buffer.from(wallet.slice(2), 'hex');
    const hashes = await books.redis.zrangebyscoreBuffer(books.keys.wallet(raw), '(0', '+inf');
    const orders = await books.settlements.orders(hashes.map((hash) => `0x${hash.toString('hex')}`));
    for (const { side, outcome, marketId, sizeLots, filledLots, pricePips } of orders.values()) {
      const unit = side === 0 ? pricePips : MICRO_PER_LOT;
      add(sums.reserved, wallet, assetOf(side, marketId, outcome), (sizeLots - filledLots) * unit);
    }
  }
  for (const { match } of books.waiting.values()) {
    for (const party of match.parties) {
      const { wallet, side, outcome } = party;
      add(sums.out, wallet, assetOf(side, match.market, outcome), takenBy(party));
      add(sums.pending, wallet, assetOf(side === 0 ? 1 : 0, match.market, outcome), broughtTo(party));
    }
  }
  return sums;
}

/** Orders are cancelled only where more was promised than is there, and then until it is not. */
export function explainCancels(
  model: FuzzModel,
  wallets: readonly string[],
  { before, after, guilty }: { before: Sums; after: Sums; guilty: ReadonlySet<string> },
  count: (what: string) => void,
): void {
  for (const wallet of wallets) {
    for (const asset of ASSETS) {
      const name = `${wallet} ${asset}`;
      const [had, has] = [before.reserved.get(name) ?? 0, after.reserved.get(name) ?? 0];
      const means = model.means(wallet, asset) - (after.out.get(name) ?? 0);
      if (has < had) count('cancelled for want of funds');
      if (has < had && means >= had && !guilty.has(wallet))
        throw new Error(`orders of ${name} cancelled, ${had} reserved of ${means}`);
      if (has > 0 && means < has) throw new Error(`orders of ${name} stay, ${has} reserved of ${means}`);
    }
  }
}

/** Every way in which the books differ from the model, in words. */
export async function differences(
  books: ChainBooks,
  model: FuzzModel,
  wallets: readonly string[],
): Promise<string[]> {
  const sums = await sumsOf(books, wallets);
  const found: string[] = [];
  const exposed = new Set<string>();
  for (const wallet of wallets) {
    const account = await books.accounts.chainAccount(wallet);
    for (const asset of ASSETS) {
      const [market, outcome] = asset.split(' ');
      const own = account?.tokens.find(({ marketId }) => marketId === market)?.assets[Number(outcome)];
      const stored = asset === 'cash' ? account?.collateral : own;
      const at = (part: keyof Sums) => sums[part].get(`${wallet} ${asset}`) ?? 0;
      const [reserved, out, pending] = [at('reserved'), at('out'), at('pending')];
      if (reserved + out > 0) exposed.add(asset === 'cash' ? wallet : `${wallet} ${market}`);
      const free = model.means(wallet, asset) - reserved - out;
      const expected = { reserved, out, pending, free };
      const told = {
        reserved: stored?.reservedMicro ?? 0,
        out: stored?.outMicro ?? 0,
        pending: stored?.pendingMicro ?? 0,
        free: stored?.freeMicro ?? 0,
      };
      for (const name of ['reserved', 'out', 'pending', 'free'] as const) {
        if (told[name] !== expected[name])
          found.push(`${name} of ${wallet} ${asset}: ${told[name]} instead of ${expected[name]}`);
      }
    }
    const unsettled = [...books.waiting.values()].flatMap(({ match }) => match.parties);
    const value = unsettled.reduce((sum, party) => sum + (party.wallet === wallet ? party.value : 0), 0);
    if ((account?.unsettledMicro ?? 0) !== value)
      found.push(`unsettled of ${wallet}: ${account?.unsettledMicro}`);
    const resting = ASSETS.slice(1).reduce(
      (sum, asset) => sum + (sums.reserved.get(`${wallet} ${asset}`) ?? 0),
      0,
    );
    if ((account?.restingMicro ?? 0) !== resting)
      found.push(`resting of ${wallet}: ${account?.restingMicro} instead of ${resting}`);
  }
  const listed = (await books.accounts.exposed()).flatMap(({ address, marketIds }) => [
    address,
    ...marketIds.map((id) => `${address} ${id}`),
  ]);
  const missing = [...exposed].filter((name) => !listed.includes(name));
  if (missing.length > 0) found.push(`not among the exposed: ${missing}`);
  return found;
}
