import {
  type Balances,
  type Client,
  connectLive,
  createClient,
  ExchangeError,
  type Live,
  orderSocket,
} from 'ctf-exchange-client';
import { Wallet } from 'ethers';
import { createDepartures, type Departure } from './departures';
import { pause } from './loop';
import { POLL_MS, POLLS_MAX, prepareOnChain } from './on-chain';

/** A bot's wallet: its own key, a session, and a socket that receives its orders and balances. */
export interface BotWallet {
  readonly signer: Wallet;
  readonly client: Client;
  readonly live: Live;
  /** Taken from the latest event. */
  balances(): Balances;
  /** Shares not reserved by an order. */
  free(marketId: string, outcomeIndex: 0 | 1): number;
  /** Shares of a market, including those in orders: Yes and No. */
  held(marketId: string): readonly [number, number];
  cash(): number;
  /** Converts money into full sets, and back; on a chain nothing while such a transaction of the market is on its way. */
  split(marketId: string, size: string): Promise<unknown>;
  merge(marketId: string, size: string): Promise<unknown>;
  /** The wallet's grant at the start. */
  readonly grant: number;
  /** Signs in, again when the session has ended. */
  ready(): Promise<void>;
  /** Asks the faucet when money runs low, at most once an hour. */
  refill(): Promise<void>;
  leave(): Promise<void>;
}

const FAUCET_EVERY_MS = 3_660_000;
/** Part of the grant below which a wallet asks for more. */
const LOW = 0.25;
/** A minute. Where the block of a transaction is unknown, it counts as that of this many blocks later. */
const LATE_BLOCKS = 150;

export interface WalletOptions {
  readonly baseUrl: string;
  /** Whether the exchange cancels its orders when the bot loses its connection. */
  readonly quotes: boolean;
  /** Receives problems as lines of text. */
  readonly say: (line: string) => void;
}

/** Creates a new wallet and signs it in. */
export async function openWallet({ baseUrl, quotes, say }: WalletOptions): Promise<BotWallet> {
  const signer = new Wallet(Wallet.createRandom().privateKey);
  const client = createClient({ baseUrl });
  await client.signIn(signer);
  const onChain = await prepareOnChain(client, signer, say);
  let balances = await client.balances();
  const grant = Number(balances.collateral.total);
  let askedAtMs = Number.NEGATIVE_INFINITY;
  const live = connectLive({ baseUrl, getToken: client.accessToken, cancelOnDisconnect: quotes });
  client.useSocket(orderSocket(live));
  const departures = createDepartures();
  const leaving = new AbortController();
  const keep = (next: Balances): void => {
    balances = next;
    departures.seen(next.asOfBlock ?? 0);
  };
  live.onBalance(keep);
  const lookUp = (): Promise<void> => client.balances().then(keep, () => undefined);
  // Changes that were made while the bot was disconnected, or that a failover has lost.
  live.onConnect(lookUp);
  live.onEpoch(lookUp);
  /** No message comes about funds of which the exchange has promised nothing. */
  const follow = async (marketId: string): Promise<void> => {
    for (let poll = 0; poll < POLLS_MAX && departures.has(marketId) && !leaving.signal.aborted; poll++) {
      await lookUp();
      await pause(POLL_MS, leaving.signal);
    }
  };
  const convert = async (request: () => Promise<unknown>, departure: Departure): Promise<void> => {
    if (!onChain) {
      await request();
      return;
    }
    const { marketId } = departure;
    if (departures.has(marketId)) return;
    departures.add(departure);
    try {
      const block = await onChain.carryOut(request);
      departures.settle(departure, block ?? (balances.asOfBlock ?? 0) + LATE_BLOCKS);
    } catch (error) {
      departures.drop(departure);
      throw error;
    }
    void follow(marketId);
  };
  let signingIn: Promise<unknown> | null = null;
  const tokens = (marketId: string, outcomeIndex: 0 | 1) =>
    balances.tokens.find((one) => one.marketId === marketId && one.outcomeIndex === outcomeIndex);
  const held = (marketId: string, outcomeIndex: 0 | 1): number =>
    Number(tokens(marketId, outcomeIndex)?.total ?? 0);
  return {
    signer,
    client,
    live,
    grant,
    balances: () => balances,
    free: (marketId, outcomeIndex) =>
      Math.max(0, Number(tokens(marketId, outcomeIndex)?.available ?? 0) - departures.tokens(marketId)),
    held: (marketId) => [held(marketId, 0), held(marketId, 1)],
    cash: () => Math.max(0, Number(balances.collateral.available) - departures.cash()),
    split: (marketId, size) =>
      convert(() => client.split(marketId, size), { marketId, tokens: 0, cash: Number(size) }),
    merge: (marketId, size) =>
      convert(() => client.merge(marketId, size), { marketId, tokens: Number(size), cash: 0 }),
    async ready() {
      if (client.session !== null) return;
      signingIn ??= client.signIn(signer).finally(() => {
        signingIn = null;
      });
      await signingIn;
      live.reauthenticate();
    },
    async refill() {
      const isLow = Number(balances.collateral.total) < grant * LOW;
      if (!isLow || Date.now() - askedAtMs < FAUCET_EVERY_MS) return;
      askedAtMs = Date.now();
      balances = await client.faucet().catch((error: unknown) => {
        if (error instanceof ExchangeError && error.code === 'RATE_LIMITED') return balances;
        throw error;
      });
    },
    async leave() {
      leaving.abort();
      try {
        if (quotes) await client.cancelAll();
        await client.signOut();
      } finally {
        live.close();
      }
    },
  };
}
