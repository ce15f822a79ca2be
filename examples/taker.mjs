// A throw-away wallet buys for 20 at the market, waits, and sells what it got, until Ctrl-C.
// npm start in one terminal, then: node examples/taker.mjs [market id or slug]
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, ExchangeError } from 'ctf-exchange-client';
import { Wallet } from 'ethers';

const baseUrl = process.env.BASE_URL ?? 'http://localhost:3000';
const BUDGET = '20';
/** The most by which a price may be worse than the best of the book, in ten-thousandths. */
const SLIPPAGE = 200;
const PAUSE_MS = 3_000;

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

// A key of yours, or one made on the spot: the exchange grants every new wallet paper funds.
const wallet = process.env.PRIVATE_KEY ? new Wallet(process.env.PRIVATE_KEY) : Wallet.createRandom();
const client = createClient({ baseUrl });
await client.signIn(wallet);

const name = process.argv[2] ?? (await client.markets({ status: 'OPEN', limit: 1 })).data[0]?.id;
if (!name) throw new Error(`no open market at ${baseUrl}`);
const { market } = await client.trading(name);
console.log(`${wallet.address} takes in: ${market.question}`);

async function trade() {
  const outcomeIndex = Math.random() < 0.5 ? 0 : 1;
  const ticker = (await client.ticker(market.id)).outcomes[outcomeIndex];
  if (ticker.bestAsk === null) return console.log(`nobody sells ${ticker.name}`);
  const worst = Math.min(9_999, Math.round(Number(ticker.bestAsk) * 10_000) + SLIPPAGE) / 10_000;
  // Signed once; should the answer be lost, the client sends the same order again, and it is booked once.
  const bought = await client.placeOrder(wallet, market.id, {
    outcomeIndex,
    side: 'BUY',
    orderType: 'MARKET',
    budget: BUDGET,
    price: String(worst),
  });
  console.log(`bought ${bought.filledSize} ${ticker.name} at ${bought.averagePrice}: ${bought.status}`);
  await sleep(PAUSE_MS, undefined, stop);
  if (bought.filledSize === '0') return;
  const { bestBid } = (await client.ticker(market.id)).outcomes[outcomeIndex];
  if (bestBid === null) return console.log(`nobody buys ${ticker.name}`);
  const least = Math.max(1, Math.round(Number(bestBid) * 10_000) - SLIPPAGE) / 10_000;
  const sold = await client.placeOrder(wallet, market.id, {
    outcomeIndex,
    side: 'SELL',
    orderType: 'MARKET',
    size: bought.filledSize,
    price: String(least),
  });
  console.log(`sold ${sold.filledSize} ${ticker.name} at ${sold.averagePrice}: ${sold.status}`);
}

while (!stop.signal.aborted) {
  try {
    await trade();
    await sleep(PAUSE_MS, undefined, stop);
  } catch (error) {
    if (stop.signal.aborted) break;
    if (!(error instanceof ExchangeError)) throw error;
    console.log(`refused: ${error.message}`);
    await sleep(PAUSE_MS, undefined, stop).catch(() => undefined);
  }
}
const { collateral } = await client.balances();
console.log(`leaves with ${collateral.total}`);
await client.signOut();
