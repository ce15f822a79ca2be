import { createHash, randomBytes } from 'node:crypto';
import { Wallet } from 'ethers';
import { ecdsaSign } from 'secp256k1';
import { createOrderVerifier } from '../src/auth/order-signature';
import { type SignedOrder, ZERO_ADDRESS } from '../src/exchange/order';
import { siweText } from '../test/support/trader';
import { call, type Side } from './web-process';

const WALLETS = 50;
const LOT_AMOUNT = 10n ** 16n;
const LOTS_USUAL = 100n;
/** Prices of orders that rest: this many cents from both ends. */
const DEPTH_CENTS = 40;

export interface Submission {
  readonly path: string;
  readonly body: string;
  readonly orderHash: string;
  readonly wallet: number;
}

export interface Wish {
  /** Prices of the bought token; by default prices that meet no order, in turn. */
  readonly cents?: number;
  readonly outcome?: 0 | 1;
  readonly lots?: bigint;
  /** Seconds; 0 for an order that does not expire. */
  readonly expiration?: bigint;
  /** By default each wallet in turn. */
  readonly wallet?: number;
}

export type Signer = Awaited<ReturnType<typeof createSigner>>;

/** A market, and signed submissions for it, by default alternately below and above the middle (BUY No). */
export async function createSigner(
  web: Side,
  walletCount = WALLETS,
  terms: { readonly shard?: number } = {},
) {
  const created = await call(
    web,
    'POST',
    '/admin/markets',
    JSON.stringify({ question: 'Does the book fill?', minOrderSize: '0.01', ...terms }),
  );
  const market = JSON.parse(created.text) as {
    id: string;
    conditionId: string;
    outcomes: { tokenId: string }[];
  };
  const { eip712 } = JSON.parse((await call(web, 'GET', '/config')).text);
  const verifier = await createOrderVerifier(eip712.domain);
  const wallets = Array.from({ length: walletCount }, (_, i) => {
    const key = createHash('sha256').update(`bench wallet ${i}`).digest();
    return { key, wallet: new Wallet(`0x${key.toString('hex')}`) };
  });
  let count = 0;

  function sign({
    cents = 1 + (count % DEPTH_CENTS),
    outcome = count % 2 === 0 ? 0 : 1,
    lots,
    expiration = 0n,
    wallet: number = count % walletCount,
  }: Wish = {}): Submission {
    count++;
    const { key, wallet } = wallets[number] as (typeof wallets)[number];
    const tokens = (lots ?? LOTS_USUAL) * LOT_AMOUNT;
    const fields: SignedOrder = {
      salt: BigInt(`0x${randomBytes(16).toString('hex')}`),
      maker: wallet.address,
      signer: wallet.address,
      taker: ZERO_ADDRESS,
      tokenId: BigInt(market.outcomes[outcome]?.tokenId ?? 0),
      makerAmount: (tokens * BigInt(cents)) / 100n,
      takerAmount: tokens,
      expiration,
      nonce: 0n,
      feeRateBps: 0n,
      side: 0,
      signatureType: 0,
      signature: '',
    };
    const orderHash = verifier.hash(fields);
    const { signature, recid } = ecdsaSign(Buffer.from(orderHash.slice(2), 'hex'), key);
    const order = {
      ...Object.fromEntries(
        Object.entries(fields).map(([name, v]) => [name, typeof v === 'bigint' ? v.toString() : v]),
      ),
      signature: `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`,
    };
    return {
      path: `/markets/${market.id}/orders`,
      body: JSON.stringify({ order }),
      orderHash,
      wallet: number,
    };
  }

  /** Signs every wallet in; returns their bearers. */
  async function signIn(): Promise<string[]> {
    return Promise.all(
      wallets.map(async ({ wallet }) => {
        const challenge = JSON.parse((await call(web, 'GET', `/auth/nonce/${wallet.address}`)).text);
        const text = siweText(challenge);
        const body = JSON.stringify({ message: text, signature: await wallet.signMessage(text) });
        return JSON.parse((await call(web, 'POST', '/auth/verify', body)).text).accessToken as string;
      }),
    );
  }

  return {
    market,
    domain: eip712.domain as object,
    addresses: wallets.map(({ wallet }) => wallet.address),
    sign,
    signIn,
  };
}
