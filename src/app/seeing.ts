import type { FoundWallet, WalletLookup } from '../chain/wallet-lookup';
import type { TokenQuery } from '../chain/wallet-reader';
import { Refusal } from '../exchange/errors';
import type { MarketView } from '../exchange/facts';
import type { ChainAccounts } from '../store/chain/accounts';
import type { Observing } from '../store/chain/observing';
import type { Reads } from '../store/reads/reads';

interface SeeingParts {
  readonly lookup: WalletLookup;
  readonly observing: Pick<Observing, 'observeWallets'>;
  readonly accounts: Pick<ChainAccounts, 'cursor' | 'chainAccount'>;
  readonly market: Reads['market'];
  readonly marketList: () => Promise<readonly MarketView[]>;
  readonly onError: (error: Error) => void;
}

/** Brings wallets into the ledger that the observer does not read, because the exchange has promised nothing of theirs. */
export interface Seeing {
  /** Before an order: the wallet, with its tokens of the market. Throws UNAVAILABLE. */
  see(wallet: string, marketId: string): Promise<void>;
  /** Before its balances are shown: the wallet, with its tokens of all open markets. It does without a chain that is away. */
  refresh(wallet: string): Promise<void>;
}

const TRIES_MAX = 3;
/** A reading is shown as it is for so many blocks; while nothing changes, for twice as many each time, up to the most. */
const FRESH_BLOCKS = 4;
const FRESH_BLOCKS_MAX = 24;
/** The most wallets whose last reading is remembered. */
const WALLETS_MAX = 10_000;
/** The most open markets whose tokens are looked for. */
const MARKETS_MAX = 100;

/** When all markets of a wallet were read last, which does not show in its account: the observer reads some of them at each block. */
interface Look {
  readonly block: number;
  readonly waits: number;
  /** All numbers in it; empty when the chain did not answer. */
  readonly numbers: string;
}

export function createSeeing(parts: SeeingParts): Seeing {
  const { lookup, observing, accounts, market, marketList, onError } = parts;
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
    note(wallet, { block, waits: FRESH_BLOCKS, numbers: '' });
    const open = (await marketList()).filter(({ state }) => state.status === 'OPEN').slice(-MARKETS_MAX);
    const known = new Set(account?.tokens.map(({ marketId }) => marketId));
    const markets = open.map(({ terms }) => ({ marketId: terms.id, tokenIds: terms.tokenIds }));
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
    const numbers = numbersOf(shown);
    const waits = numbers === before?.numbers ? Math.min(2 * before.waits, FRESH_BLOCKS_MAX) : FRESH_BLOCKS;
    note(wallet, { block, waits, numbers });
  }

  return { see, refresh };
}

const numbersOf = ({ collateral, approvedForAll, minNonce, tokens }: FoundWallet['reading']): string =>
  [
    ...[collateral.balance, collateral.allowance, approvedForAll, minNonce],
    ...tokens.flatMap(({ marketId, balances }) => [marketId, ...balances]),
  ].join(' ');
