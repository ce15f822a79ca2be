import { createBlocks } from '../../../src/chain/blocks';
import type { BlockRef } from '../../../src/exchange/chain';
import type { Side } from '../../../src/exchange/match';
import { chainScale, type SignedOrder } from '../../../src/exchange/order';
import { lots, micro, pips } from '../../../src/exchange/units';
import { createConversionReader } from '../../../src/extensions/chain/contracts/conversions';
import { createEventReader } from '../../../src/extensions/chain/contracts/exchange-events';
import { createWalletLookup } from '../../../src/extensions/chain/contracts/wallet-lookup';
import { createWalletReader } from '../../../src/extensions/chain/contracts/wallet-reader';
import { createObservation, type Observation } from '../../../src/extensions/chain/jobs/observation';
import { startObserver } from '../../../src/extensions/chain/jobs/observe';
import { createReadRecorded } from '../../../src/extensions/chain/jobs/recorded';
import { haltingOnUnknown } from '../../../src/extensions/chain/jobs/unknown';
import { createWithdraw } from '../../../src/extensions/chain/jobs/withdraw';
import { noteFunds } from '../../../src/extensions/chain/store/funds';
import { createChainLedger } from '../../../src/extensions/chain/store/ledger';
import { createWithdrawals } from '../../../src/extensions/chain/store/withdrawals';
import { createPlainLease } from '../../../src/store/outbox/lease';
import type { SettlementKey } from '../../../src/store/records/settlement';
import { packSigned } from '../../../src/store/records/signed-order';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { createKeys } from '../../../src/store/redis/keys';
import { createScripts, scriptSources } from '../../../src/store/redis/scripts';
import { createSettlements } from '../../../src/store/settlement/settlements';
import { createEngine } from '../../../src/store/verbs/engine';
import { PLAIN_TERMS } from '../../support/engine-order';
import { startTestRedis } from '../../support/redis';
import { READY_MS } from '../../support/waiting';
import type { Nodes } from './nodes';
import { CHAIN_ID, type Market, type Trader, type World } from './world';

export const MARKET_ID = 'market00';
const FEE_BPS = 200;
const SCALE = chainScale(18);
const SEE_TRIES = 50;

export interface OrderTerms {
  readonly side: Side;
  readonly outcome: 0 | 1;
  readonly pricePips: number;
  readonly sizeLots: number;
}

interface Sent extends OrderTerms {
  readonly signed: SignedOrder;
  readonly hash: string;
}

export type Followed = Awaited<ReturnType<typeof startFollowed>>;

/** The books of an exchange in a Redis, which an observer keeps in step with a chain; nothing sends settlements by itself. */
export async function startFollowed(world: World, market: Market, nodes: Nodes) {
  const server = await startTestRedis();
  const redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  const keys = createKeys();
  const run = createScripts(redis, scriptSources('chain'));
  await noteFunds(run, keys, { chainId: CHAIN_ID, exchange: world.exchange.toLowerCase(), hold: 'cost' });
  const [unknown, others]: [SettlementKey[], SettlementKey[]] = [[], []];
  const ledger = createChainLedger({
    redis,
    run,
    keys,
    scale: SCALE,
    async onUnknown(list) {
      unknown.push(...list);
      await haltingOnUnknown(halt)(list);
    },
  });
  const halt = (reason: string): Promise<void> => engine.setMode('HALTED', reason);
  const settlements = createSettlements({ redis, run, keys, funds: 'chain' });
  const { exchange, collateral, ctf } = world;
  const rpc = nodes.client();
  const wallets = createWalletReader(rpc, { exchange, collateral, conditionalTokens: ctf });
  const lookup = createWalletLookup(wallets, ledger.finalBlock);
  const tokenIds = market.tokens.map(String) as [string, string];

  async function see(wallet: string): Promise<void> {
    for (let i = 0; i < SEE_TRIES; i++) {
      const { at, reading } = await lookup.readWallet(wallet, [{ marketId: MARKET_ID, tokenIds }]);
      if (await ledger.observeWallets(at, [reading])) return;
    }
    throw new Error(`the wallet ${wallet} could not be seen`);
  }

  const engine = createEngine({
    run,
    keys,
    grantMicro: micro(0),
    makersMax: 500,
    chain: {
      unsettledMaxNewMicro: micro(0),
      freshMaxMicro: micro(0),
      see,
      approval: () => ({ token: collateral, spender: exchange }),
    },
  });
  await engine.createMarket(
    { id: MARKET_ID, conditionId: market.conditionId, slug: MARKET_ID },
    '{}',
    'OPEN',
  );

  const orders = new Map<string, Sent>();
  const errors: Error[] = [];
  const observe = (): Observation =>
    createObservation({
      wallets,
      blocks: createBlocks(rpc, { kind: 'tag' }),
      events: createEventReader(rpc, exchange),
      conversions: createConversionReader(rpc, { exchange, collateral, conditionalTokens: ctf }),
      marketOf: async (conditionId) =>
        conditionId === market.conditionId ? { id: MARKET_ID, tokenIds } : null,
      ledger,
      tokensOf: async (marketId) => (marketId === MARKET_ID ? tokenIds : null),
      recorded: createReadRecorded(settlements),
      onOther: async (settled) => void others.push(...settled),
      withdraw: createWithdraw({ engine, withdrawals: createWithdrawals({ redis, keys }) }),
    });
  const start = () =>
    startObserver({
      lease: createPlainLease({ run, keys }, keys.observerLease),
      observation: observe(),
      halt,
      onError: (error) => errors.push(error),
    });
  let observer = start();

  /** Throws the refusal. */
  async function place(trader: Trader, terms: OrderTerms): Promise<void> {
    const { side, outcome, pricePips, sizeLots } = terms;
    const tokens = BigInt(sizeLots) * SCALE.lotAmount;
    const paid = BigInt(sizeLots) * BigInt(pricePips) * SCALE.microAmount;
    const signed = world.sign(trader, {
      tokenId: market.tokens[outcome],
      side,
      feeRateBps: BigInt(FEE_BPS),
      ...(side === 0
        ? { makerAmount: paid, takerAmount: tokens }
        : { makerAmount: tokens, takerAmount: paid }),
    });
    const hash = world.hashOf(signed);
    orders.set(hash, { ...terms, signed, hash });
    await engine.place({
      ...PLAIN_TERMS,
      marketId: MARKET_ID,
      orderHash: hash,
      maker: trader.address,
      orderType: 'GTC',
      feeRateBps: FEE_BPS,
      order: {
        side,
        outcome,
        pricePips: pips(pricePips),
        sizeLots: lots(sizeLots),
        budgetMicro: micro(0),
      },
      signed: packSigned(signed, Buffer.from(signed.signature.slice(2), 'hex')),
    });
  }

  return {
    settlements,
    engine,
    orders,
    errors,
    unknown,
    others,
    place,
    keys,
    redis,
    /** Another observer takes over, which knows only the books. */
    async restart(): Promise<void> {
      await observer.stop();
      observer = start();
    },
    final: (): Promise<BlockRef | null> => ledger.finalBlock(),
    async stop() {
      await observer.stop();
      disconnect(redis);
      await server.stop();
    },
  };
}
