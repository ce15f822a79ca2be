import { createHash } from 'node:crypto';
import { Wallet } from 'ethers';
import { ecdsaSign } from 'secp256k1';
import { createOrderVerifier } from '../../src/auth/order-signature';
import { ZERO_ADDRESS } from '../../src/exchange/order';
import { type Client, patiently } from '../support/client';
import { type Domain, type Market, siweText } from '../support/trader';

const LOT_AMOUNT = 10n ** 16n;

export interface Wish {
  readonly side: 'BUY' | 'SELL';
  readonly outcome: 0 | 1;
  readonly pips: number;
  readonly lots: number;
  /** Epoch seconds, 0 never. */
  readonly expiration: number;
}

export interface Signed extends Wish {
  readonly orderHash: string;
  readonly wire: Readonly<Record<string, unknown>>;
}

/** A wallet that signs with the native library: thousands of orders in a test. */
export interface Person {
  readonly address: string;
  /** The token of the latest sign-in. */
  token: string;
  sign(market: Market, wish: Wish): Signed;
  signIn(client: Client): Promise<void>;
}

export async function createPeople(count: number, seed: string, domain: Domain): Promise<Person[]> {
  const verifier = await createOrderVerifier(domain);
  let salt = 0;
  return Array.from({ length: count }, (_, i) => {
    const key = createHash('sha256').update(`${seed} ${i}`).digest();
    const wallet = new Wallet(`0x${key.toString('hex')}`);
    const person: Person = {
      address: wallet.address,
      token: '',
      sign(market, wish) {
        const tokens = BigInt(wish.lots) * LOT_AMOUNT;
        const cash = (tokens * BigInt(wish.pips)) / 10_000n;
        const fields = {
          salt: BigInt(
            `0x${createHash('sha256').update(`${seed} ${i} ${salt++}`).digest('hex').slice(0, 30)}`,
          ),
          maker: wallet.address,
          signer: wallet.address,
          taker: ZERO_ADDRESS,
          tokenId: BigInt(market.outcomes[wish.outcome]?.tokenId ?? 0),
          makerAmount: wish.side === 'BUY' ? cash : tokens,
          takerAmount: wish.side === 'BUY' ? tokens : cash,
          expiration: BigInt(wish.expiration),
          nonce: 0n,
          feeRateBps: 0n,
          side: wish.side === 'BUY' ? 0 : 1,
          signatureType: 0,
          signature: '',
        } as const;
        const orderHash = verifier.hash(fields);
        const { signature, recid } = ecdsaSign(Buffer.from(orderHash.slice(2), 'hex'), key);
        const texts = Object.entries(fields).map(([name, v]) => [
          name,
          typeof v === 'bigint' ? String(v) : v,
        ]);
        const hex = `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`;
        return { ...wish, orderHash, wire: { ...Object.fromEntries(texts), signature: hex } };
      },
      async signIn(client) {
        // An exchange whose Redis is late answers 503 and is asked for another nonce.
        const answer = await patiently(async () => {
          const { body } = await patiently(() => client.get(`/auth/nonce/${wallet.address}`));
          const message = siweText(body);
          const signature = await wallet.signMessage(message);
          return client.post('/auth/verify', { body: { message, signature } });
        });
        if (answer.status !== 200) throw new Error(`no sign-in: ${answer.text}`);
        person.token = answer.body.accessToken;
      },
    };
    return person;
  });
}
