import type { Market } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { isOver } from '../exchange-state';
import { chanceOf, dayChange, dayFacts, type Shown } from '../market-data';
import { nameOf } from '../outcome-names';
import { inPage, linkTo, linkToEvent } from '../route';
import { tell } from '../toasts';
import {
  deadlineOf,
  lasting,
  microOf,
  nowMs,
  numberWords,
  percent,
  pipsOf,
  pointsOf,
  roundly,
} from '../units';
import { statusWord } from './market-list';

export const MarketHead = ({ market, shown }: { readonly market: Market; readonly shown: Shown | null }) => {
  const now = shown?.market ?? market;
  const chance = chanceOf(shown ?? { market, book: null, trades: null });
  const change = dayChange(chance, dayFacts(now, shown?.ticker));
  const status = statusWord(now);
  return (
    <section class="head">
      <p class="head-facts">
        <span class="tag">{now.category}</span>
        {status !== null && <span class="tag tag-strong">{status}</span>}
        {now.event && (
          <a href={linkToEvent(now.event.slug)} onClick={inPage(linkToEvent(now.event.slug))}>
            {now.event.title}
          </a>
        )}
        <span>{volumeWords(now)}</span>
        {now.closesAt !== null && (
          <span>
            {hasEnded(now) ? 'Closed' : 'Closes'} {deadlineOf(now.closesAt)}
            {!hasEnded(now) && <Countdown until={now.closesAt} />}
          </span>
        )}
        <Share market={now} />
      </p>
      <h1 class="head-question" dir="auto">
        {now.question}
      </h1>
      {isOver(now) ? (
        <p class="head-chance head-over">
          <strong>{status}</strong>
        </p>
      ) : (
        <p class="head-chance">
          <strong>{chance === null ? '–' : percent(chance, pipsOf(now.tickSize))}</strong> chance
          {nameOf(now, 0) !== 'Yes' && ` of ${nameOf(now, 0)}`}
          <Change change={change} />
        </p>
      )}
    </section>
  );
};

const DAY_MS = 86_400_000;
const TICK_MS = 1_000;

/** Shown on its last day. */
const Countdown = ({ until }: { readonly until: string }) => {
  const [, setTick] = useState(0);
  const leftMs = Date.parse(until) - nowMs();
  const isSoon = leftMs > 0 && leftMs < DAY_MS;
  useEffect(() => {
    if (!isSoon) return;
    const timer = setInterval(() => setTick((now) => now + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isSoon]);
  return isSoon ? <strong class="countdown"> in {lasting(leftMs)}</strong> : null;
};

/** Uses the system's share sheet if there is one, else the clipboard. */
const Share = ({ market }: { readonly market: Market }) => {
  const share = async (): Promise<void> => {
    const url = location.origin + linkTo(market.slug);
    try {
      if (navigator.share) await navigator.share({ title: market.question, url });
      else {
        await navigator.clipboard.writeText(url);
        tell('The link is copied.');
      }
    } catch (error) {
      // Closing the sheet is no failure.
      if (!(error instanceof DOMException && error.name === 'AbortError')) tell(`Share this link: ${url}`);
    }
  };
  return (
    <button type="button" class="link share" onClick={() => void share()}>
      Share
    </button>
  );
};

const hasEnded = (market: Market): boolean =>
  market.status === 'CLOSED' || isOver(market) || Date.parse(market.closesAt ?? '') < nowMs();

/** Today's volume is shown only if it differs from the total. */
function volumeWords({ volume, volume24h }: Market): string {
  const all = `${roundly(microOf(volume))} volume`;
  return volume24h === volume ? all : `${all}, ${roundly(microOf(volume24h))} today`;
}

const Change = ({ change }: { readonly change: number }) => {
  const points = pointsOf(change);
  if (points === 0) return null;
  return (
    <span class={points > 0 ? 'head-change up' : 'head-change down'}>
      {points > 0 ? '▲' : '▼'} {numberWords(Math.abs(points))} {Math.abs(points) === 1 ? 'point' : 'points'}{' '}
      today
    </span>
  );
};
