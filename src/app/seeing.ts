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
/** A reading this many blocks old is shown as it is. */
const FRESH_BLOCKS = 4;
/** The most open markets whose tokens are looked for. */
const MARKETS_MAX = 100;

export function createSeeing(parts: SeeingParts): Seeing {
  const { lookup, observing, accounts, market, marketList, onError } = parts;
  async function take(
    wallet: string,
    markets: readonly TokenQuery[],
    only: (found: FoundWallet['reading']) => FoundWallet['reading'],
  ): Promise<void> {
    for (let turn = 0; turn < TRIES_MAX; turn++) {
      const { at, reading } = await lookup.readWallet(wallet, markets);
      // False when a reorganization has replaced the block.
      if (await observing.observeWallets(at, [only(reading)])) return;
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
    if (cursor && account && cursor.final.number - account.asOfBlock <= FRESH_BLOCKS) return;
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
    await take(wallet, markets, withTokens).catch(onError);
  }

  return { see, refresh };
}
