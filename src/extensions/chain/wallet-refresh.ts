import type { WalletCall } from '../../exchange/chain';
import { Refusal } from '../../exchange/errors';
import type { MarketView, Owed } from '../../exchange/facts';
import type { Micro } from '../../exchange/units';
import type { Reads } from '../../store/reads/reads';
import type { OwedReader } from './contracts/owed';
import type { FoundWallet, WalletLookup } from './contracts/wallet-lookup';
import type { TokenQuery } from './contracts/wallet-reader';
import type { ChainAccounts } from './store/accounts';
import type { Observing } from './store/observing';

interface WalletRefreshOptions {
  readonly lookup: WalletLookup;
  readonly observing: Pick<Observing, 'observeWallets'>;
  readonly accounts: Pick<ChainAccounts, 'cursor' | 'chainAccount'>;
  readonly market: Reads['market'];
  readonly marketList: () => Promise<readonly MarketView[]>;
  /** What the exchange contract holds for a wallet, by the ids of assets in chain units, and the call that pays it. */
  readonly owing: OwedReader & { call(wallet: string, asset: string): WalletCall };
  readonly toMicro: (units: bigint) => Micro;
  readonly onError: (error: Error) => void;
}

/** Brings wallets into the ledger that the observer does not read, because the exchange has promised nothing of theirs. */
export interface WalletRefresh {
  /** Before an order: the wallet, with its tokens of the market. Throws UNAVAILABLE. */
  see(wallet: string, marketId: string): Promise<void>;
  /**
   * Before its balances are shown: the wallet, with its tokens of all open markets and of those that it may redeem. It does without
   * a chain that is away.
   */
  refresh(wallet: string): Promise<void>;
  /** The amounts that the exchange contract held for the wallet at the last refresh of this process. */
  owed(wallet: string): readonly Owed[];
}

const TRIES_MAX = 3;
/** Blocks for which a reading is shown as it is; doubled each time nothing changed, up to the maximum. */
const FRESH_BLOCKS = 4;
const FRESH_BLOCKS_MAX = 24;
/** The most wallets whose last reading is remembered. */
const WALLETS_MAX = 10_000;
/** The most markets whose tokens are looked for. */
const MARKETS_MAX = 100;
/** The most of them of which the contract is asked what it holds: each takes two calls. */
const OWED_MARKETS_MAX = 50;

/** When all markets of a wallet were read last, which does not show in its account: the observer reads some of them at each block. */
interface Look {
  readonly block: number;
  readonly waits: number;
  /** All numbers in it; empty when the chain did not answer. */
  readonly numbers: string;
  readonly owed: readonly Owed[];
}

export function createWalletRefresh(parts: WalletRefreshOptions): WalletRefresh {
  const { lookup, observing, accounts, market, marketList, owing, toMicro, onError } = parts;
  const looks = new Map<string, Look>();

  function note(wallet: string, look: Look): void {
    looks.delete(wallet);
    if (looks.size >= WALLETS_MAX) looks.delete(looks.keys().next().value ?? '');
    looks.set(wallet, look);
  }

  async function take(
    wallet: string,
    markets: readonly TokenQuery[],
    only: (found: FoundWallet['reading']) => FoundWallet['reading'],
  ): Promise<FoundWallet['reading']> {
    for (let turn = 0; turn < TRIES_MAX; turn++) {
      const { at, reading } = await lookup.readWallet(wallet, markets);
      const shown = only(reading);
      // False when a reorganization has replaced the block.
      if (await observing.observeWallets(at, [shown])) return shown;
    }
    throw new Error('the blocks of the chain change');
  }

  async function see(wallet: string, marketId: string): Promise<void> {
    const found = await market(marketId);
    if (!found) throw new Refusal('MARKET_NOT_FOUND');
    const { tokenIds } = found.terms;
    await take(wallet, [{ marketId, tokenIds }], (reading) => reading).catch((error: Error) => {
      throw new Refusal(
        'UNAVAILABLE',
        `the wallet could not be read from the chain: ${error.message}; retry`,
      );
    });
  }

  async function refresh(wallet: string): Promise<void> {
    const [cursor, account] = await Promise.all([accounts.cursor(), accounts.chainAccount(wallet)]);
    const before = looks.get(wallet);
    if (!cursor || (before && cursor.final.number - before.block <= before.waits)) return;
    const block = cursor.final.number;
    // Other requests of the wallet do not read it again meanwhile, nor when the chain does not answer.
    note(wallet, { block, waits: FRESH_BLOCKS, numbers: '', owed: before?.owed ?? [] });
    const known = new Set(account?.tokens.map(({ marketId }) => marketId));
    const markets = chosen(await marketList(), known);
    // An account of each market that the wallet never touched would only use memory.
    const withTokens = (reading: FoundWallet['reading']) => ({
      ...reading,
      tokens: reading.tokens.filter(
        ({ marketId, balances: [yes, no] }) => yes + no > 0n || known.has(marketId),
      ),
    });
    const shown = await take(wallet, markets, withTokens).catch((error: Error) => {
      onError(error);
      return null;
    });
    if (!shown) return;
    const owed = await readOwed(wallet, shown.hasCode ? markets.slice(-OWED_MARKETS_MAX) : [], block).catch(
      (error: Error) => {
        onError(error);
        return before?.owed ?? [];
      },
    );
    const numbers = numbersOf(shown, owed);
    const waits = numbers === before?.numbers ? Math.min(2 * before.waits, FRESH_BLOCKS_MAX) : FRESH_BLOCKS;
    note(wallet, { block, waits, numbers, owed });
  }

  /** Only a wallet with code can refuse tokens; the collateral may refuse any wallet. */
  async function readOwed(
    wallet: string,
    markets: readonly TokenQuery[],
    block: number,
  ): Promise<readonly Owed[]> {
    const tokens = markets.flatMap(({ marketId, tokenIds }) =>
      ([0, 1] as const).map((outcome) => ({ marketId, outcome, tokenId: tokenIds[outcome] })),
    );
    const assets = [null, ...tokens];
    const amounts = await owing.read(
      wallet,
      assets.map((token) => token?.tokenId ?? '0'),
      block,
    );
    return assets.flatMap((token, i) => {
      const amount = amounts[i] ?? 0n;
      return amount === 0n
        ? []
        : [{ token, amountMicro: toMicro(amount), call: owing.call(wallet, token?.tokenId ?? '0') }];
    });
  }

  return { see, refresh, owed: (wallet) => looks.get(wallet)?.owed ?? [] };
}

/** The markets that are read: those that trade, those where the books know tokens of the wallet, and others that ended last. */
function chosen(all: readonly MarketView[], known: ReadonlySet<string>): TokenQuery[] {
  const isFirst = ({ terms, state }: MarketView): boolean => state.status === 'OPEN' || known.has(terms.id);
  const first = all.filter(isFirst).slice(-MARKETS_MAX);
  const others = all.filter((one) => !isFirst(one) && one.state.status !== 'DRAFT');
  const left = MARKETS_MAX - first.length;
  return [...(left > 0 ? others.slice(-left) : []), ...first].map(({ terms }) => ({
    marketId: terms.id,
    tokenIds: terms.tokenIds,
  }));
}

const numbersOf = (
  { collateral, approvedForAll, minNonce, tokens }: FoundWallet['reading'],
  owed: readonly Owed[],
): string =>
  [
    ...owed.map(({ amountMicro }) => `owed ${amountMicro}`),
    ...[collateral.balance, collateral.allowance, approvedForAll, minNonce],
    ...tokens.flatMap(({ marketId, balances }) => [marketId, ...balances]),
  ].join(' ');
