import type { Market } from 'ctf-exchange-client';
import { isOver } from '../exchange-state';
import { chanceOf, type Shown } from '../market-data';
import { nameOf } from '../outcome-names';
import { dateOf, microOf, nowMs, percent, pipsOf, roundly } from '../units';
import { statusWord } from './market-list';

export const MarketHead = ({ market, shown }: { readonly market: Market; readonly shown: Shown | null }) => {
  const now = shown?.market ?? market;
  const chance = chanceOf(shown ?? { market, book: null, trades: null });
  const change = shown?.ticker?.outcomes[0]?.priceChange24h ?? null;
  const status = statusWord(now);
  return (
    <section class="head">
      <p class="head-facts">
        <span class="tag">{now.category}</span>
        {status !== null && <span class="tag tag-strong">{status}</span>}
        <span>{volumeWords(now)}</span>
        {now.closesAt !== null && (
          <span>
            {hasEnded(now) ? 'Closed' : 'Closes'} {dateOf(now.closesAt)}
          </span>
        )}
      </p>
      <h1 class="head-question">{now.question}</h1>
      {isOver(now) ? (
        <p class="head-chance head-over">
          <strong>{status}</strong>
        </p>
      ) : (
        <p class="head-chance">
          <strong>{chance === null ? '–' : percent(chance, pipsOf(now.tickSize))}</strong> chance
          {nameOf(now, 0) !== 'Yes' && ` of ${nameOf(now, 0)}`}
          <Change change={change} />
          <a class="button head-trade" href="#ticket">
            Trade
          </a>
        </p>
      )}
    </section>
  );
};

const hasEnded = (market: Market): boolean =>
  market.status === 'CLOSED' || isOver(market) || Date.parse(market.closesAt ?? '') < nowMs();

/** Today's volume is shown where it differs from the whole. */
function volumeWords({ volume, volume24h }: Market): string {
  const all = `${roundly(microOf(volume))} volume`;
  return volume24h === volume ? all : `${all}, ${roundly(microOf(volume24h))} today`;
}

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
