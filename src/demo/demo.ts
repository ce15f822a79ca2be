import { setMaxListeners } from 'node:events';
import { connectLive, createClient, type ExchangeError } from 'ctf-exchange-client';
import { type Desk, openDesk } from './desk';
import { loop } from './loop';
import { createMaker } from './maker';
import { demoMarkets } from './markets';
import type { Random } from './random';
import { COIN_CHARACTER, COIN_TAG } from './story';
import { take, tidyUp } from './taker';
import { talk } from './talk';
import { type BotWallet, openWallet } from './wallet';

export interface DemoOptions {
  readonly baseUrl: string;
  /** Receives problems as lines of text. */
  readonly say: (line: string) => void;
  /** Speed of the bots; 1 is usual. */
  readonly pace?: number;
  readonly random?: Random;
}

export interface Demo {
  /** Rejects when a bot has met a bug; otherwise never settles. */
  readonly failed: Promise<never>;
  /** Cancels all orders and signs out. */
  stop(): Promise<void>;
}

/** Few, because the exchange lets ten wallets of one address sign in within a minute, and its user is one of them. */
const MAKERS = 2;
const TAKERS = 2;
/** The pace in one market; all markets together trade about six times as often. */
const QUOTE_EVERY_MS = 1_300;
const STOCK_EVERY_MS = 20_000;
/** The pace of one taker. */
const TAKE_EVERY_MS = 1_600;
const TIDY_EVERY_MS = 30_000;
/** The same error is logged at most once in this time. */
const TELL_EVERY_MS = 60_000;

/** Bots that trade in the demo markets through the public interface, like other clients. */
export async function startDemo({
  baseUrl,
  say,
  pace = 1,
  random = Math.random,
}: DemoOptions): Promise<Demo> {
  const client = createClient({ baseUrl });
  const live = connectLive({ baseUrl });
  const stopping = new AbortController();
  // Each loop adds a listener to the signal.
  setMaxListeners(0, stopping.signal);
  // Together, because on a chain each waits for its funds.
  const wallets: BotWallet[] = await Promise.all(
    Array.from({ length: MAKERS + TAKERS }, (_, i) => openWallet({ baseUrl, quotes: i < MAKERS, say })),
  );
  const grant = wallets[0]?.grant ?? 0;
  const desks: Desk[] = [];
  for (const demo of demoMarkets(new Date())) {
    desks.push(await openDesk({ client, live, demo, random, grant, say }));
  }
  const coins = await client.markets({ tag: COIN_TAG, status: 'OPEN', limit: 1 });
  for (const { slug } of coins.data) {
    const demo = { body: { slug }, character: COIN_CHARACTER };
    desks.push(await openDesk({ client, live, demo, random, grant, say }));
  }
  const onRefusal = createNotifier(say);
  const runs: Promise<void>[] = [];
  const run = (wallet: BotWallet, act: () => Promise<void>, everyMs: number): void => {
    const turn = () => wallet.ready().then(act);
    runs.push(loop(turn, { everyMs: everyMs / pace, random, signal: stopping.signal, onRefusal }));
  };
  for (const [i, desk] of desks.entries()) {
    const wallet = wallets[i % MAKERS];
    if (!wallet) continue;
    const maker = createMaker(desk, wallet, random);
    const whileOpen = (act: () => Promise<void>) => async () => (desk.isOpen() ? act() : undefined);
    run(wallet, whileOpen(maker.quote), QUOTE_EVERY_MS);
    run(wallet, whileOpen(maker.stock), STOCK_EVERY_MS);
  }
  const open = (): Desk[] => desks.filter((desk) => desk.isOpen());
  for (const wallet of wallets) run(wallet, wallet.refill, STOCK_EVERY_MS);
  for (const taker of wallets.slice(MAKERS)) {
    run(taker, () => take(open(), taker, random), TAKE_EVERY_MS);
    run(taker, () => tidyUp(open(), taker), TIDY_EVERY_MS);
  }
  await talk(desks[0], wallets).catch((error: Error) => say(`no comments: ${error.message}`));
  return {
    failed: new Promise<never>((_, reject) => {
      for (const one of runs) one.catch(reject);
    }),
    async stop() {
      stopping.abort();
      live.close();
      await Promise.allSettled(runs);
      await Promise.allSettled(wallets.map((wallet) => wallet.leave()));
    },
  };
}

function createNotifier(say: (line: string) => void): (error: ExchangeError) => void {
  const toldAtMs = new Map<string, number>();
  return ({ code, message }) => {
    if (Date.now() - (toldAtMs.get(code) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return;
    toldAtMs.set(code, Date.now());
    say(message);
  };
}
