import type { Wallet } from 'ethers';
import { type Answer, type Client, createClient, patiently } from '../../support/client';
import { siweText } from '../../support/trader';
import type { Contracts } from './checker-chain';

/** The exchange as the checker reads it: its HTTP interface, signed in as each wallet and as the operator. */
export type CheckedWallet = Pick<Wallet, 'address' | 'signMessage'>;

/** Amounts are decimal text in chain units, as the API gives them. */
export interface ApiOrder {
  readonly maker: string;
  readonly tokenId: string;
  readonly side: 0 | 1;
  readonly makerAmount: string;
  readonly takerAmount: string;
  readonly feeRateBps: string;
}
export interface ApiSettlement {
  readonly id: string;
  readonly sequence: number;
  readonly status: string;
  readonly transactionHash: string | null;
  readonly blockNumber?: number;
  readonly failureReason?: string;
  readonly failedWallet?: string;
  readonly takerOrderHash: string | null;
  readonly makerOrderHashes: readonly string[];
  readonly takerOrder: ApiOrder | null;
  readonly makerOrders: readonly ApiOrder[];
  readonly takerFillAmount: string;
  readonly makerFillAmounts: readonly string[];
  readonly refundAmount: string;
  readonly tradeIds: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ApiBalance {
  readonly total: string;
  readonly available: string;
  readonly reserved: string;
  readonly unsettled: string;
  readonly pending: string;
}
export interface ApiBalances {
  readonly collateral: ApiBalance;
  readonly tokens: readonly (ApiBalance & { readonly tokenId: string })[];
  readonly approvals: {
    readonly collateral: { readonly allowance: string };
    readonly conditionalTokens: { readonly approved: boolean };
  };
  /** The final block of the collateral and the approvals. */
  readonly asOfBlock: number;
  readonly standing: { readonly strikes: number; readonly unsettled: string };
}

export interface ApiWalletOrder {
  readonly orderHash: string;
  readonly tokenId: string;
  readonly side: 'BUY' | 'SELL';
  readonly orderType: string;
  readonly price: string;
  readonly filledSize: string;
  readonly remainingSize: string;
  readonly settledSize: string;
  readonly failedSize: string;
  readonly status: string;
  readonly reason: string | null;
  readonly createdAt: string;
}

export interface ApiMarket {
  readonly id: string;
  readonly conditionId: string;
  readonly outcomes: readonly { readonly tokenId: string }[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const MICRO_DIGITS = 6;
/** A decimal number of the API in millionths. */
export function microOf(text: string): bigint {
  const [whole = '0', part = ''] = text.split('.');
  return BigInt(whole) * 10n ** BigInt(MICRO_DIGITS) + BigInt(part.padEnd(MICRO_DIGITS, '0'));
}

export type Api = Awaited<ReturnType<typeof openApi>>;

export async function openApi(baseUrl: string, adminToken: string) {
  const client: Client = createClient(baseUrl);
  const tokens = new Map<string, string>();

  async function get(path: string, token?: string): Promise<Answer> {
    const answer = await patiently(() => client.get(path, { token }));
    if (answer.status !== 200) throw new Error(`GET ${path} answers ${answer.status}: ${answer.text}`);
    return answer;
  }

  async function all<T>(path: string, limit: number, token?: string): Promise<T[]> {
    const found: T[] = [];
    let cursor: string | null = null;
    do {
      const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await get(`${path}?limit=${limit}${more}`, token);
      found.push(...body.data);
      cursor = body.nextCursor;
    } while (cursor !== null);
    return found;
  }

  async function signIn(wallet: CheckedWallet): Promise<string> {
    // A nonce may be used although its answer is lost, so each attempt has its own.
    const answer = await patiently(async () => {
      const message = siweText((await get(`/auth/nonce/${wallet.address}`)).body);
      return client.post('/auth/verify', { body: { message, signature: await wallet.signMessage(message) } });
    });
    if (answer.status !== 200) throw new Error(`${wallet.address} cannot sign in: ${answer.text}`);
    tokens.set(wallet.address, answer.body.accessToken);
    return answer.body.accessToken;
  }

  /** A token lives for some minutes, and a storm for longer. */
  async function mine<T>(wallet: CheckedWallet, read: (token: string) => Promise<T>): Promise<T> {
    const token = tokens.get(wallet.address);
    if (token === undefined) return read(await signIn(wallet));
    return read(token).catch(async (error: Error) => {
      if (!error.message.includes('answers 401')) throw error;
      return read(await signIn(wallet));
    });
  }

  const { contracts, limits } = (await get('/config')).body;
  return {
    contracts: {
      exchange: contracts.exchange.toLowerCase(),
      collateral: contracts.collateral.toLowerCase(),
      tokens: contracts.conditionalTokens.toLowerCase(),
    } satisfies Contracts as Contracts,
    /** Chain units in a millionth. */
    microAmount: 10n ** BigInt(limits.collateralDecimals - MICRO_DIGITS),
    balances: (wallet: CheckedWallet): Promise<ApiBalances> =>
      mine(wallet, async (token) => (await get('/me/balances', token)).body),
    orders: (wallet: CheckedWallet): Promise<ApiWalletOrder[]> =>
      mine(wallet, (token) => all('/me/orders', 200, token)),
    settlements: (): Promise<ApiSettlement[]> => all('/admin/settlements', 200, adminToken),
    newestSettlements: async (): Promise<ApiSettlement[]> =>
      (await get('/admin/settlements?limit=50', adminToken)).body.data,
    markets: (): Promise<ApiMarket[]> => all('/admin/markets', 100, adminToken),
    trades: (marketId: string): Promise<{ id: string }[]> => all(`/markets/${marketId}/trades`, 500),
    audit: async (): Promise<unknown[]> => (await get('/admin/audit', adminToken)).body.differences,
    async metrics(): Promise<Sample[]> {
      const { text } = await get('/metrics');
      return [...text.matchAll(/^(\w+)(?:\{([^}]*)\})? (\S+)$/gm)].map(
        ([, name = '', labels = '', value]) => ({
          name,
          labels: Object.fromEntries(
            [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text]),
          ),
          value: Number(value),
        }),
      );
    },
  };
}
