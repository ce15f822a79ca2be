import { RpcUnavailable } from '../../../chain/endpoint';
import type { BlockRef, WalletReading } from '../../../exchange/chain';
import type { TokenQuery, WalletReader } from './wallet-reader';

/** The state of a wallet, and the block that it is of. */
export interface FoundWallet {
  readonly at: BlockRef;
  readonly reading: WalletReading;
}

export interface WalletLookup {
  /**
   * Reads a wallet that the ledger has not seen lately, with the tokens of these markets. Calls at the same time share their
   * requests. Rejects when the chain does not answer in time, or too many wait.
   */
  readWallet(address: string, markets: readonly TokenQuery[]): Promise<FoundWallet>;
}

/** A request waits no longer for the chain: its own time is 3 s, and after that it would not say what it waited for. */
const LIMIT_MS = 2_500;
const WAITING_MAX = 1_000;

interface Waiting {
  readonly address: string;
  readonly markets: readonly TokenQuery[];
  readonly resolve: (found: FoundWallet) => void;
  readonly reject: (error: unknown) => void;
  /** When the caller waits no longer. */
  readonly until: number;
}

/** `ledgerBlock` is the final block that the ledger has: it takes no state of a later one from elsewhere. */
export function createWalletLookup(
  wallets: WalletReader,
  ledgerBlock: () => Promise<BlockRef | null>,
): WalletLookup {
  let waiting: Waiting[] = [];
  let isReading = false;

  /** Reads for all that came while the last reading was under way, one reading at a time. */
  async function readOn(): Promise<void> {
    isReading = true;
    while (waiting.length > 0) {
      const now = performance.now();
      const batch = waiting.filter(({ until }) => until > now);
      waiting = [];
      if (batch.length > 0) await answer(batch);
    }
    isReading = false;
  }

  async function answer(batch: readonly Waiting[]): Promise<void> {
    try {
      const at = await ledgerBlock();
      if (!at) throw new RpcUnavailable('the exchange has not read its first block yet');
      const readings = await wallets.read(at, merged(batch));
      const found = new Map(readings.map((reading) => [reading.address, reading]));
      for (const { address, resolve, reject } of batch) {
        const reading = found.get(address);
        if (reading) resolve({ at, reading });
        else reject(new Error(`the reading lacks the wallet ${address}`));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    readWallet(address, markets) {
      if (waiting.length >= WAITING_MAX)
        return Promise.reject(new RpcUnavailable('too many wallets wait to be read from the chain'));
      return limited((resolve, reject) => {
        const until = performance.now() + LIMIT_MS;
        waiting.push({ address: address.toLowerCase(), markets, resolve, reject, until });
        if (!isReading) void readOn();
      });
    },
  };
}

type Work = (resolve: (found: FoundWallet) => void, reject: (error: unknown) => void) => void;

function limited(work: Work): Promise<FoundWallet> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new RpcUnavailable(`the chain did not answer within ${LIMIT_MS} ms`)),
      LIMIT_MS,
    );
    const end = <T>(settle: (value: T) => void) => {
      return (value: T): void => {
        clearTimeout(timer);
        settle(value);
      };
    };
    work(end(resolve), end(reject));
  });
}

/** One query for each wallet, with all markets that its callers asked for. */
function merged(batch: readonly Waiting[]): { address: string; markets: TokenQuery[] }[] {
  const queries = new Map<string, Map<string, TokenQuery>>();
  for (const { address, markets } of batch) {
    const known = queries.get(address) ?? new Map<string, TokenQuery>();
    for (const market of markets) known.set(market.marketId, market);
    queries.set(address, known);
  }
  return [...queries].map(([address, markets]) => ({ address, markets: [...markets.values()] }));
}
