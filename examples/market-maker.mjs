// A throw-away wallet quotes both outcomes of a market around a fair price, leaning against what it holds, until Ctrl-C.
// npm start in one terminal, then: node examples/market-maker.mjs [market id or slug] [fair price, for example 0.55]
import { setTimeout as sleep } from 'node:timers/promises';
import { connectLive, createClient, ExchangeError, orderSocket } from 'ctf-exchange-client';
import { Wallet } from 'ethers';

const baseUrl = process.env.BASE_URL ?? 'http://localhost:3000';
const SIZE = 50;
const LEVELS = 3;
const REQUOTE_EVERY_MS = 2_000;
/** Holding so many shares more of one outcome than of the other moves the quotes by one tick. */
const SHARES_PER_TICK = 100;
const ONE = 10_000;

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

const wallet = process.env.PRIVATE_KEY ? new Wallet(process.env.PRIVATE_KEY) : Wallet.createRandom();
const client = createClient({ baseUrl });
await client.signIn(wallet);

const name = process.argv[2] ?? (await client.markets({ status: 'OPEN', limit: 1 })).data[0]?.id;
if (!name) throw new Error(`no open market at ${baseUrl}`);
const trading = await client.trading(name);
const { market } = trading;
const tick = Math.round(Number(market.tickSize) * ONE);
const fair = Math.round(Number(process.argv[3] ?? market.midpoint ?? market.lastTradePrice ?? 0.5) * ONE);
console.log(`${wallet.address} quotes: ${market.question}`);

// Should this process die, the exchange takes the orders back 10 s later.
const live = connectLive({ baseUrl, getToken: client.accessToken, cancelOnDisconnect: true });
client.useSocket(orderSocket(live));
const book = live.watch(market.conditionId, { onState: (state, why) => console.log(`-- ${state}: ${why}`) });
live.onTrade(({ role, size, matchType }) => console.log(`traded ${size} as ${role}: ${matchType}`));

/** Yes less No, and full sets turned back into money. */
async function inventory() {
  const { tokens } = await client.balances();
  const mine = (index) => tokens.find((one) => one.marketId === market.id && one.outcomeIndex === index);
  const free = (index) => Math.floor(Number(mine(index)?.available ?? 0));
  const sets = Math.min(free(0), free(1));
  if (sets > 0) await client.merge(market.id, String(sets));
  return Number(mine(0)?.total ?? 0) - Number(mine(1)?.total ?? 0);
}

/** Bids for Yes are bids; bids for No are asks of Yes: neither needs a token to begin with. */
function quotes(centre) {
  const price = (ticks) => Math.min(ONE - tick, Math.max(tick, Math.round(centre / tick + ticks) * tick));
  return Array.from({ length: LEVELS }, (_, level) => [
    { outcomeIndex: 0, price: String(price(-1 - level) / ONE) },
    { outcomeIndex: 1, price: String((ONE - price(1 + level)) / ONE) },
  ]).flat();
}

async function requote() {
  // A book that is not in step is no reason to quote.
  if (book.state !== 'live') return;
  const centre = fair - (tick * (await inventory())) / SHARES_PER_TICK;
  await client.cancelAll({ marketId: market.id });
  const results = await client.batch(
    wallet,
    trading,
    quotes(centre).map((quote) => ({ ...quote, side: 'BUY', orderType: 'POST_ONLY', size: String(SIZE) })),
  );
  const resting = results.filter((result) => 'order' in result).length;
  console.log(`${resting} of ${results.length} quotes rest around ${(centre / ONE).toFixed(4)}`);
}

while (!stop.signal.aborted) {
  await requote().catch((error) => {
    if (!(error instanceof ExchangeError)) throw error;
    console.log(`refused: ${error.message}`);
  });
  await sleep(REQUOTE_EVERY_MS, undefined, stop).catch(() => undefined);
}
const { count } = await client.cancelAll();
console.log(`cancelled ${count} quotes`);
live.close();
await client.signOut();
