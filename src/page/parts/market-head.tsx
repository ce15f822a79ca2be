import type { Market } from 'ctf-exchange-client';
import type { Shown } from '../market-data';
import { aboutPips, dateOf, microOf, PIPS_ONE, percent, pipsOf, roundly } from '../units';
import { statusWord } from './market-list';

/** Above this the middle of the book says little, and the last trade is the better word. */
const SPREAD_MAX_PIPS = 1_000;

/** The chance of Yes as the exchange has it: the middle of a book that is close, else the last trade. */
function chanceOf({ book, market, trades }: Shown): number | null {
  const bid = book?.bids[0];
  const ask = book?.asks[0];
  if (bid && ask && pipsOf(ask.price) - pipsOf(bid.price) <= SPREAD_MAX_PIPS) {
    return (pipsOf(bid.price) + pipsOf(ask.price)) / 2;
  }
  const last = trades?.[0];
  if (last) return last.outcomeIndex === 0 ? pipsOf(last.price) : PIPS_ONE - pipsOf(last.price);
  const told = market.outcomes[0]?.price ?? market.lastTradePrice;
  return told == null ? null : aboutPips(told);
}

export const MarketHead = ({ market, shown }: { readonly market: Market; readonly shown: Shown | null }) => {
  const now = shown?.market ?? market;
  const chance = chanceOf(shown ?? { market, book: null, trades: null, ticker: null, trading: null });
  const change = shown?.ticker?.outcomes[0]?.priceChange24h ?? null;
  const status = statusWord(now);
  return (
    <section class="head">
      <p class="head-facts">
        <span class="tag">{now.category}</span>
        {status !== null && <span class="tag tag-strong">{status}</span>}
        <span>{roundly(microOf(now.volume))} volume</span>
        <span>{roundly(microOf(now.volume24h))} today</span>
        {now.closesAt !== null && <span>Closes {dateOf(now.closesAt)}</span>}
      </p>
      <h1 class="head-question">{now.question}</h1>
      <p class="head-chance">
        <strong>{chance === null ? '–' : percent(chance)}</strong> chance
        <Change change={change} />
        <a class="button head-trade" href="#ticket">
          Trade
        </a>
      </p>
    </section>
  );
};

const Change = ({ change }: { readonly change: string | null }) => {
  const points = change === null ? 0 : Math.round(Number(change) * 1_000) / 10;
  if (points === 0) return null;
  return (
    <span class={points > 0 ? 'head-change up' : 'head-change down'}>
      {points > 0 ? '▲' : '▼'} {Math.abs(points)} {Math.abs(points) === 1 ? 'point' : 'points'} today
    </span>
  );
};

/** How the question is decided. */
export const MarketRules = ({ market }: { readonly market: Market }) => (
  <section class="card rules" aria-labelledby="rules-title">
    <h2 id="rules-title" class="card-title">
      Rules
    </h2>
    <p>
      {market.description === ''
        ? 'Its operator has not described how this market is decided.'
        : market.description}
    </p>
    <p class="muted">
      A share pays $1 if its outcome wins and nothing if it loses. Prices are in cents and can be read as
      chances.
    </p>
  </section>
);
