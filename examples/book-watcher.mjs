// Watches a market's book and trades live, and says when what it shows is not up to date. Ctrl-C ends it.
// npm start in one terminal, then: node examples/book-watcher.mjs [market id or slug] [yes|no]
import { connectLive, createClient } from 'ctf-exchange-client';

const baseUrl = process.env.BASE_URL ?? 'http://localhost:3000';
const LEVELS = 5;
/** A terminal is read, not watched frame by frame. */
const SHOW_EVERY_MS = 1_000;

const client = createClient({ baseUrl });
const [, , name, outcome = 'yes'] = process.argv;
const market = name
  ? await client.market(name)
  : (await client.markets({ status: 'OPEN', limit: 1 })).data[0];
if (!market) throw new Error(`no open market at ${baseUrl}`);
const outcomeIndex = outcome.toLowerCase() === 'no' ? 1 : 0;

let isChanged = false;
const live = connectLive({ baseUrl });
const book = live.watch(market.conditionId, {
  onBook: () => {
    isChanged = true;
  },
  onState: (state, why) => console.log(`-- ${state}: ${why}`),
  onTrade: ({ side, outcomeIndex: index, size, price, matchType }) => {
    console.log(`   trade: ${side} ${size} ${market.outcomes[index].name} at ${price} (${matchType})`);
  },
});

function show() {
  if (!isChanged || book.state !== 'live') return;
  isChanged = false;
  const { bids, asks } = book.view(outcomeIndex);
  console.log(`\n${market.question} ${market.outcomes[outcomeIndex].name}, sequence ${book.sequence}`);
  for (let i = 0; i < LEVELS && (bids[i] || asks[i]); i++) {
    const [bid, ask] = [bids[i], asks[i]].map((level) => (level ? [level.size, level.price] : ['', '']));
    console.log(`${bid[0].padStart(12)} ${bid[1].padStart(7)} | ${ask[1].padEnd(7)} ${ask[0]}`);
  }
}

const timer = setInterval(show, SHOW_EVERY_MS);
process.once('SIGINT', () => {
  clearInterval(timer);
  live.close();
});
