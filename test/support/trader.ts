import { randomBytes } from 'node:crypto';
import { Wallet } from 'ethers';
import { SiweMessage } from 'siwe';
import { EIP712_ORDER_TYPES } from '../../src/auth/order-hash';
import { ZERO_ADDRESS } from '../../src/exchange/order';
import { type Answer, type Client, patiently } from './client';

const E18 = 10n ** 18n;

/** A signed order in its wire form. */
export type WireOrder = Record<string, unknown> & { signature: string };

export interface Limit {
  readonly side: 'BUY' | 'SELL';
  /** 0 Yes, 1 No. */
  readonly outcome: 0 | 1;
  /** In hundredths of a cent: 6200 is 0.62. */
  readonly pips: number;
  /** Whole shares times 100. */
  readonly lots: number;
}

/** The facts of a market that orders are signed for. */
export interface Market {
  readonly id: string;
  readonly outcomes: readonly { readonly tokenId: string }[];
}

export interface Domain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: string;
}

/** The EIP-712 domain of its orders. An exchange whose Redis is late answers 503 and is asked again. */
export async function domainOf(client: Pick<Client, 'get'>): Promise<Domain> {
  return (await patiently(() => client.get('/config'))).body.eip712.domain;
}

export type Trader = ReturnType<typeof createTrader>;

/** A wallet with a real key that signs in, signs orders and sends them. */
export function createTrader(client: Client, domain: Domain, wallet: Wallet = new Wallet(hex(32))) {
  let token: string | undefined;

  async function signed(fields: Record<string, unknown>, over: object = domain): Promise<WireOrder> {
    const signature = await wallet.signTypedData(over, EIP712_ORDER_TYPES, fields);
    return { ...fields, signature };
  }

  /** The unsigned members of an order. */
  const fields = (market: Market, limit: Limit, more: Record<string, unknown> = {}) => ({
    ...orderFields(wallet.address, market, limit),
    ...more,
  });

  const order = (market: Market, limit: Limit, more?: Record<string, unknown>): Promise<WireOrder> =>
    signed(fields(market, limit, more));

  const submit = async (
    market: Market,
    limit: Limit,
    { more, ...body }: { more?: Record<string, unknown> } & Record<string, unknown> = {},
  ): Promise<Answer> =>
    client.post(`/markets/${market.id}/orders`, {
      body: { order: await order(market, limit, more), ...body },
    });

  async function signInOnce(at: Client = client): Promise<Answer> {
    const { body } = await patiently(() => at.get(`/auth/nonce/${wallet.address}`));
    const message = siweText(body);
    const answer = await at.post('/auth/verify', {
      body: { message, signature: await wallet.signMessage(message) },
    });
    token = answer.body?.accessToken;
    return answer;
  }

  /** An exchange whose Redis is late answers 503 and is asked again. */
  const signIn = (at?: Client): Promise<Answer> => patiently(() => signInOnce(at));

  return {
    wallet,
    address: wallet.address,
    fields,
    signed,
    order,
    submit,
    signIn,
    signInOnce,
    /** The token of the latest sign-in. */
    token: async (): Promise<string> => {
      if (token === undefined) await signIn();
      return token ?? '';
    },
    get: async (path: string): Promise<Answer> =>
      client.get(path, { token: token ?? (await signIn()).body.accessToken }),
    send: async (method: string, path: string, body?: unknown): Promise<Answer> =>
      client.call(method, path, {
        token: token ?? (await signIn()).body.accessToken,
        ...(body === undefined ? {} : { body }),
      }),
    post: async (path: string, body?: unknown): Promise<Answer> =>
      client.post(path, {
        token: token ?? (await signIn()).body.accessToken,
        ...(body === undefined ? {} : { body }),
      }),
  };
}

function orderFields(maker: string, market: Market, { side, outcome, pips, lots }: Limit) {
  const tokens = BigInt(lots) * (E18 / 100n);
  const cash = (tokens * BigInt(pips)) / 10_000n;
  const [makerAmount, takerAmount] = side === 'BUY' ? [cash, tokens] : [tokens, cash];
  return {
    salt: BigInt(hex(16)).toString(),
    maker,
    signer: maker,
    taker: ZERO_ADDRESS,
    tokenId: market.outcomes[outcome]?.tokenId ?? '',
    makerAmount: makerAmount.toString(),
    takerAmount: takerAmount.toString(),
    expiration: '0',
    nonce: '0',
    feeRateBps: '0',
    side: side === 'BUY' ? 0 : 1,
    signatureType: 0,
  };
}

/** The message of a challenge, with members replaced. */
export function siweText(challenge: Record<string, unknown>, more: Record<string, unknown> = {}): string {
  const { nonce, address, domain, uri, chainId, version, statement, issuedAt } = challenge;
  return new SiweMessage({
    nonce,
    address,
    domain,
    uri,
    chainId,
    version,
    statement,
    issuedAt,
    ...more,
  } as Partial<SiweMessage>).prepareMessage();
}

const hex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`;

export type OpenMarket = Market & {
  readonly slug: string;
  readonly conditionId: string;
  readonly questionId: string;
};

/** Creates an open market through the admin route. By default it accepts orders of less than a share. */
export async function openMarket(
  client: Client,
  adminToken: string,
  body: Record<string, unknown> = {},
): Promise<OpenMarket> {
  const question = `Will it rain on day ${randomBytes(4).toString('hex')}?`;
  const sent = {
    token: adminToken,
    body: { question, minOrderSize: body.lotSize ?? '0.01', ...body },
  };
  const answer = await patiently(() => client.post('/admin/markets', sent));
  if (answer.status !== 201) throw new Error(`no market: ${answer.text}`);
  return answer.body;
}
