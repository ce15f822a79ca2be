import { type Balances, type OutcomeIndex, viewOf } from 'ctf-exchange-client';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { account, useAccount, useWallet } from '../account-data';
import { useCell } from '../cell';
import { config, exchangeState, fundsWords, isOver, whyNoOrders } from '../exchange-state';
import { lazy } from '../lazy';
import { connection, judgeNow, type Shown } from '../market-data';
import { estimate, facing, freeOf, type Inputs, judge, type Standing } from '../order-draft';
import { namesOf } from '../outcome-names';
import type { Said, Step } from '../place-order';
import '../sent-orders';
import { isSheetOpen } from '../route';
import {
  amount,
  expiry,
  expiryDate,
  orderType,
  outcome,
  parts,
  price,
  shares,
  side,
  typeShares,
} from '../ticket-state';
import { centsField, nowMs } from '../units';
import type { Refused } from '../words';
import { Choice, Outcomes, SIDES, TypeField } from './ticket-choices';
import { AmountField, type FieldProps, SharesField } from './ticket-fields';
import { Summary } from './ticket-summary';
import { DOING, submitWords } from './ticket-words';

/** Only with funds on a chain. */
const Approvals = lazy(async () => (await import('./later')).LATER.Approvals, null);
/** Only for who buys before signing in. */
const WalletChoice = lazy(async () => (await import('./later')).LATER.WalletChoice, null);
/** Only in an order with a price, and under More. */
const PriceField = lazy<FieldProps>(async () => (await import('./later')).LATER.PriceField, null);
const ExpiryField = lazy(async () => (await import('./later')).LATER.ExpiryField, null);
/** Most markets are open. */
const StateCard = lazy(async () => (await import('./later')).LATER.StateCard, null);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** After this time from its sending the person needs to see that the order is still in progress. */
const SLOW_MS = 3_000;

/** The expiration of the drafted order; null for never, and for an order that does not rest. */
function expiresAtMs({ orderType }: Inputs): number | null {
  if (orderType !== 'GTC' && orderType !== 'POST_ONLY') return null;
  switch (expiry.get()) {
    case 'hour':
      return nowMs() + HOUR_MS;
    case 'day':
      return nowMs() + DAY_MS;
    case 'month':
      return nowMs() + 30 * DAY_MS;
    case 'date':
      return Date.parse(expiryDate.get());
    case 'never':
      return null;
  }
}

/** The typed values, and for an untouched price the book's suggestion. */
function useInputs(shown: Shown | null): Inputs {
  const [s, o, t, p] = [useCell(side), useCell(outcome), useCell(orderType), useCell(price)];
  const [n, a] = [useCell(shares), useCell(amount)];
  const book = shown?.book ? viewOf(shown.book, o) : null;
  const best = facing(book, s)[0] ?? facing(book, s === 'BUY' ? 'SELL' : 'BUY')[0];
  const suggested = t === 'MARKET' || !best ? '' : centsField(best.pips);
  return { side: s, outcome: o, orderType: t, price: p ?? suggested, shares: n, amount: a };
}

const standingOf = (shown: Shown, index: OutcomeIndex, balances: Balances | null): Standing => ({
  market: shown.market,
  book: shown.book && viewOf(shown.book, index),
  free: freeOf(balances, shown.market.id, index),
});

/** Places the order of the ticket, and keeps the result until the next change. */
function useOrder(inputs: Inputs, shown: Shown | null, standing: Standing | null) {
  const wallet = useWallet();
  const [said, setSaid] = useState<Said | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [step, setStep] = useState<Step | null>(null);
  const [isSlow, setSlow] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const forget = (): void => setSaid(null);
  useEffect(() => {
    const ends = parts.map((part) => part.subscribe(forget));
    return () => {
      for (const end of ends) end();
    };
  }, []);
  // A message belongs to its wallet and market.
  useEffect(forget, [wallet?.address, shown?.market.id]);
  useEffect(() => setAsking(false), [wallet?.address]);
  useEffect(() => {
    setSlow(false);
    if (step !== 'sending') return;
    const timer = setTimeout(setSlow, SLOW_MS, true);
    return () => clearTimeout(timer);
  }, [step]);
  // A message ends with its cause.
  useEffect(() => {
    if (!said?.holds) return;
    const look = (): void => void (said.holds?.() === false && forget());
    const ends = [connection, account, exchangeState].map((cause) => cause.subscribe(look));
    look();
    return () => {
      for (const end of ends) end();
    };
  }, [said]);
  const submit = async (): Promise<void> => {
    if (isBusy || !shown || !standing) return;
    const wrong = wallet ? null : typedWrong(inputs, standing);
    if (wrong) return setSaid({ tone: 'refused', ...wrong });
    if (!wallet) return setAsking(true);
    setBusy(true);
    setSaid(null);
    try {
      const { place } = (await import('./later')).LATER;
      const done = await place(
        { ...inputs, expiresAtMs: expiresAtMs(inputs) },
        shown,
        standing,
        wallet,
        setStep,
      );
      // A second press must not place the order again; what was typed meanwhile stays.
      if (done.became && shares.get() === inputs.shares && amount.get() === inputs.amount) typeShares('');
      setSaid(done);
    } catch {
      setSaid({
        tone: 'refused',
        field: 'form',
        text: 'The page could not be loaded completely. Reload it.',
      });
    }
    setBusy(false);
    setStep(null);
  };
  const doing: keyof typeof DOING | null = isBusy ? (isSlow ? 'late' : (step ?? 'starting')) : null;
  const now = said?.isJudged && standing ? judgedAgain(inputs, standing) : said;
  return { said: now, doing, isAsking, submit, wallet };
}

/** On a phone the sheet closes first, and the browser restores the place where it was opened. */
function seePosition(): void {
  const show = (): void => document.querySelector('.mine')?.scrollIntoView({ block: 'center' });
  if (isSheetOpen.get()) {
    addEventListener('popstate', () => setTimeout(show), { once: true });
    history.back();
  } else show();
}

/** Book and balances change, and with them what the page refuses. */
function judgedAgain(inputs: Inputs, standing: Standing): Said | null {
  const judged = judgeNow({ ...inputs, expiresAtMs: expiresAtMs(inputs) }, standing);
  return 'refused' in judged ? { tone: 'refused', ...judged.refused } : null;
}

/** A typing mistake is shown before the page asks to sign in; an empty field is no mistake. */
function typedWrong(inputs: Inputs, standing: Standing): Refused | null {
  const judged = judge(inputs, { ...standing, free: null });
  if (!('refused' in judged) || judged.refused.field === 'form') return null;
  const typed = { price: inputs.price, shares: inputs.shares, amount: inputs.amount ?? '' };
  return typed[judged.refused.field].trim() === '' ? null : judged.refused;
}

export const Ticket = ({ shown }: { readonly shown: Shown | null }) => {
  if (shown && (isOver(shown.market) || shown.market.status === 'CLOSED'))
    return <StateCard market={shown.market} />;
  return (
    <>
      {shown?.market.status === 'PAUSED' && <StateCard market={shown.market} />}
      {useCell(config)?.chain && <Approvals />}
      <Form shown={shown} />
    </>
  );
};

/** With funds on a chain: the contract may take nothing of what the order sells. */
function isUnapproved(balances: Balances | null, side: Inputs['side']): boolean {
  const given = balances?.approvals;
  if (!given) return false;
  return side === 'BUY' ? given.collateral.allowance === '0' : !given.conditionalTokens.approved;
}

/** The reason why the ticket can place no order now, for its button. */
function useObstacle(shown: Shown | null, side: Inputs['side'], balances: Balances | null): string | null {
  const reason = whyNoOrders(shown?.market ?? null, useCell(exchangeState)?.mode);
  return reason ?? (isUnapproved(balances, side) ? 'Approve the exchange first' : null);
}

/** The fields that most orders do not need; it opens by itself for one that has a value. */
const More = ({
  isNeeded,
  children,
}: {
  readonly isNeeded: boolean;
  readonly children: ComponentChildren;
}) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      class="more"
      open={isOpen || isNeeded}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>More</summary>
      {(isOpen || isNeeded) && children}
    </details>
  );
};

/** The focus goes into the sheet, and returns to what opened it. */
function useSheetFocus() {
  const isOpen = useCell(isSheetOpen);
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    if (!isOpen || !(opener instanceof HTMLElement)) return;
    back.current?.focus({ preventScroll: true });
    return () => opener.focus({ preventScroll: true });
  }, [isOpen]);
  return { isOpen, back };
}

const Form = ({ shown }: { readonly shown: Shown | null }) => {
  const sheet = useSheetFocus();
  const inputs = useInputs(shown);
  const { balances } = useAccount();
  const standing = shown && standingOf(shown, inputs.outcome, balances);
  const { said, doing, isAsking, submit, wallet } = useOrder(inputs, shown, standing);
  const reason = useObstacle(shown, inputs.side, balances);
  const names = namesOf(shown?.market);
  const found = standing && estimate(inputs, standing);
  const refusedAt = (field: Refused['field']): string | null =>
    said?.tone === 'refused' && said.field === field ? said.text : null;
  const isMarket = inputs.orderType === 'MARKET';
  const fields = { inputs, standing, isSignedIn: wallet !== null };
  const isSpending = isMarket && inputs.side === 'BUY';
  const priceField = <PriceField {...fields} refused={refusedAt('price')} />;
  const sharesField = <SharesField {...fields} refused={refusedAt('shares')} />;
  const amountField = <AmountField {...fields} refused={refusedAt('amount')} />;
  const inMore = [
    isMarket ? inputs.price : (inputs.amount ?? ''),
    isSpending ? inputs.shares : '',
    refusedAt(isMarket ? 'price' : 'amount') ?? '',
  ];
  const isMoreNeeded = inMore.some((text) => text !== '');
  const funds = fundsWords(useCell(config));

  return (
    <form
      id="ticket"
      class={sheet.isOpen ? 'card ticket ticket-sheet' : 'card ticket'}
      data-testid="ticket"
      aria-label="Order ticket"
      noValidate
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === null) void submit();
      }}
    >
      <button ref={sheet.back} type="button" class="link sheet-close" onClick={() => history.back()}>
        Back to the market
      </button>
      <p class="ticket-question" dir="auto">
        {shown?.market.question}
      </p>
      <div class="ticket-top">
        <Choice of={side} options={SIDES} label="Side" variant="sides" />
        <TypeField value={inputs.orderType} />
      </div>
      <Outcomes shown={shown} side={inputs.side} names={names} />
      {!isMarket && priceField}
      {isSpending ? amountField : sharesField}
      {(inputs.orderType === 'GTC' || inputs.orderType === 'POST_ONLY') && <ExpiryField />}
      {(isMarket || inputs.side === 'BUY') && (
        <More key={`${inputs.side} ${inputs.orderType}`} isNeeded={isMoreNeeded}>
          {isSpending && sharesField}
          {isMarket ? priceField : amountField}
        </More>
      )}
      <Summary inputs={inputs} standing={standing} />
      {isAsking && !wallet && <WalletChoice />}
      <button
        type="submit"
        class={`button button-wide button-outcome-${inputs.outcome}`}
        disabled={reason !== null}
      >
        {reason ??
          (doing ? DOING[doing] : submitWords(inputs, found, names[inputs.outcome], wallet !== null))}
      </button>
      <div class="ticket-said">
        {doing === 'late' ? (
          <p class="hint" role="status">
            No answer yet; if none comes, the same order is sent again, which cannot run twice.
          </p>
        ) : said?.field === 'form' ? (
          <p class={said.tone} role={said.tone === 'refused' ? 'alert' : 'status'}>
            {said.text}
            {said.became === 'filled' && (
              <>
                {' · '}
                <button type="button" class="link" onClick={seePosition}>
                  See position
                </button>
              </>
            )}
          </p>
        ) : (
          <p class="hint">You sign the order with your wallet. {funds}</p>
        )}
      </div>
    </form>
  );
};
