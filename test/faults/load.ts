import type { Answer, Client } from '../support/client';
import type { Random } from '../support/random';
import type { Market } from '../support/trader';
import { sleep } from '../support/waiting';
import type { Person, Signed } from './people';

/** One submission, and all answers about it. */
export interface Submission {
  readonly signed: Signed;
  readonly marketId: string;
  readonly person: Person;
  readonly orderType: string;
  /** Answers of 200, in their order. */
  readonly accepted: AcceptedAnswer[];
  /** The code of a refusal that leaves no state, once it is final. */
  refused: string | null;
  /** By `performance.now()`: until then a request without an answer may still be booked, so a refusal of another is not final. */
  doubtfulUntilMs: number;
  /** It brought a 503 or no answer, and five seconds later a 404: it is not sent again, and must not exist. */
  isGivenUp: boolean;
  /** The sequence of a cancel that was answered `cancelled: true`. */
  cancelSequence: number | null;
  /** A cancel was sent and not answered. */
  cancelUnknown: boolean;
}

export interface AcceptedAnswer {
  readonly sequence: number;
  readonly filledSize: string;
  readonly status: string;
  readonly fills: readonly { readonly tradeId: string }[];
}

export interface Journal {
  readonly submissions: Submission[];
  /** The time of each request, and the time until its answer or the loss of its connection. */
  readonly timings: { readonly sentAtMs: number; readonly tookMs: number }[];
  answers: number;
  /** Numbers of requests that brought a 503, and no answer. */
  unavailable: number;
  lost: number;
  /** Answers that must never occur. */
  readonly wrong: string[];
  /** The stage has ended, so open requests give up. */
  isOver: boolean;
}

export interface LoadOptions {
  readonly random: Random;
  readonly markets: readonly Market[];
  readonly people: readonly Person[];
  /** Returns a replica that should answer now. */
  readonly client: () => Client;
  /** The way in for a wallet's requests about orders; by default that of `client`. */
  readonly wayIn?: (person: Person, client: Client) => Client;
  readonly lanes: number;
  /** The number of submissions after which it stops, unless it was stopped before. */
  readonly most: number;
  /** Share of the orders that expire within seconds. */
  readonly expiring?: number;
  /** Milliseconds that a lane waits between two requests. */
  readonly pauseMs?: number;
}

const CANCEL_SHARE = 0.15;
/** Share of accepted orders that are sent again. */
const REPEAT_SHARE = 0.05;
const RESOLVE_PAUSE_MS = 100;
/** A quiet exchange on a busy machine may be late a few times. */
const RESOLVE_TRIES_MAX = 50;
/** Share of the orders without an answer whose state is looked up when it is final. */
const GIVE_UP_SHARE = 0.2;
const FINAL_MS = 5_000;
const TYPES = ['GTC', 'GTC', 'GTC', 'GTC', 'GTC', 'IOC', 'FOK', 'POST_ONLY'] as const;

export const createJournal = (): Journal => ({
  submissions: [],
  timings: [],
  answers: 0,
  unavailable: 0,
  lost: 0,
  wrong: [],
  isOver: false,
});

/** Milliseconds of the slowest request in progress between two moments of `performance.now()`. */
export const slowestMs = ({ timings }: Journal, from = 0, to = Number.POSITIVE_INFINITY): number =>
  timings
    .filter(({ sentAtMs, tookMs }) => sentAtMs <= to && sentAtMs + tookMs >= from)
    .reduce((most, { tookMs }) => Math.max(most, tookMs), 0);

/** So many more orders than these were accepted, and have met others. */
export function isBusy({ submissions }: Journal, least: { accepted: number; traded: number }): boolean {
  const taken = submissions.filter(({ accepted }) => accepted.length > 0);
  const traded = taken.filter(({ accepted }) => accepted.some(({ fills }) => fills.length > 0));
  return taken.length > least.accepted && traded.length > least.traded;
}

/** Trades at random until stopped; looks up unknown results until they are known. */
export function startLoad(journal: Journal, options: LoadOptions) {
  const { random, markets, people, client, lanes, most, pauseMs = 0, expiring = 0.15 } = options;
  const wayIn = options.wayIn ?? ((_, at) => at);
  let stopped = false;
  const asking: Promise<void>[] = [];

  /** Null when there was no answer, or none that shows the result. */
  async function known(ask: (at: Client) => Promise<Answer>): Promise<Answer | null> {
    const startedAt = performance.now();
    try {
      const answer = await ask(client());
      journal.answers++;
      if (answer.status !== 503) {
        if (answer.status >= 500) journal.wrong.push(`${answer.status} ${answer.text}`);
        return answer;
      }
      if (!answer.headers.has('retry-after')) journal.wrong.push(`503 without Retry-After: ${answer.text}`);
      journal.unavailable++;
    } catch {
      journal.lost++;
    } finally {
      journal.timings.push({ sentAtMs: startedAt, tookMs: performance.now() - startedAt });
    }
    return null;
  }

  const post = ({ marketId, signed, orderType, person }: Submission) =>
    known((at) =>
      wayIn(person, at).post(`/markets/${marketId}/orders`, { body: { order: signed.wire, orderType } }),
    );

  /** Sends it once. A refusal is known to be the result when no earlier request can be booked any more. */
  async function attempt(submission: Submission): Promise<'known' | 'refused for now' | 'unknown'> {
    const sentAt = performance.now();
    const answer = await post(submission);
    if (!answer) {
      submission.doubtfulUntilMs = sentAt + FINAL_MS;
      return 'unknown';
    }
    if (answer.status !== 200 && sentAt < submission.doubtfulUntilMs) return 'refused for now';
    if (answer.status === 200) submission.accepted.push(answer.body);
    else submission.refused = answer.body?.code ?? `status ${answer.status}`;
    return 'known';
  }

  const beyondDoubt = ({ doubtfulUntilMs }: Submission): Promise<void> =>
    sleep(Math.max(0, doubtfulUntilMs - performance.now()));

  async function submit(): Promise<void> {
    const market = random.pick(markets);
    const person = random.pick(people);
    const expiration = random.next() < expiring ? Math.floor(Date.now() / 1_000) + 1 + random.below(4) : 0;
    const signed = person.sign(market, {
      side: random.next() < 0.6 ? 'BUY' : 'SELL',
      outcome: random.below(2) as 0 | 1,
      pips: (44 + random.below(13)) * 100,
      lots: 100 * (1 + random.below(30)),
      expiration,
    });
    const submission: Submission = {
      signed,
      marketId: market.id,
      person,
      orderType: random.pick(TYPES),
      accepted: [],
      refused: null,
      doubtfulUntilMs: 0,
      isGivenUp: false,
      cancelSequence: null,
      cancelUnknown: false,
    };
    journal.submissions.push(submission);
    await settle(submission);
    if (submission.accepted.length > 0 && random.next() < REPEAT_SHARE) await settle(submission);
  }

  /** Sends it until its result is known, or the load stops. */
  async function settle(submission: Submission): Promise<void> {
    for (;;) {
      const result = await attempt(submission);
      if (result === 'known' || stopped || journal.isOver) return;
      // Both without blocking the lane.
      if (result === 'refused for now') return void asking.push(sendWhenFinal(submission));
      if (random.next() < GIVE_UP_SHARE) return void asking.push(askWhenFinal(submission));
      await sleep(RESOLVE_PAUSE_MS);
    }
  }

  async function sendWhenFinal(submission: Submission): Promise<void> {
    await beyondDoubt(submission);
    return settle(submission);
  }

  async function askWhenFinal(submission: Submission): Promise<void> {
    await beyondDoubt(submission);
    while (!journal.isOver) {
      const told = await known((at) => at.get(`/orders/${submission.signed.orderHash}`));
      if (told?.status === 200) return settle(submission);
      submission.isGivenUp = told?.status === 404;
      if (submission.isGivenUp) return;
      await sleep(RESOLVE_PAUSE_MS);
    }
  }

  async function cancel(): Promise<void> {
    const open = journal.submissions.slice(-200).filter((one) => one.accepted.at(-1)?.status === 'OPEN');
    if (open.length === 0) return submit();
    const one = random.pick(open);
    const { orderHash } = one.signed;
    const sent = { token: one.person.token, body: { orderHash } };
    const answer = await known((at) =>
      wayIn(one.person, at).post(`/markets/${one.marketId}/orders/cancel`, sent),
    );
    if (answer?.status === 200 && answer.body.cancelled) one.cancelSequence = answer.body.sequence;
    else if (!answer || answer.status === 200) one.cancelUnknown = true;
  }

  async function lane(): Promise<void> {
    while (!stopped && !journal.isOver && journal.submissions.length < most) {
      await (random.next() < CANCEL_SHARE ? cancel() : submit());
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: lanes }, lane));
  return {
    /** Resolves after `most` submissions. */
    done: running,
    /** Resolves when no request is in progress and no result is unknown; the exchange must be healthy. */
    async stop(): Promise<void> {
      stopped = true;
      await running;
      for (let i = 0; i < asking.length; i++) await asking[i];
      for (const submission of journal.submissions) {
        if (submission.accepted.length === 0 && submission.refused === null && !submission.isGivenUp) {
          await beyondDoubt(submission);
          let result = await attempt(submission);
          for (let tries = 1; result !== 'known' && tries < RESOLVE_TRIES_MAX; tries++) {
            await (result === 'unknown' ? sleep(RESOLVE_PAUSE_MS) : beyondDoubt(submission));
            result = await attempt(submission);
          }
          if (result !== 'known') journal.wrong.push(`${submission.signed.orderHash} is not resolved`);
        }
      }
    },
  };
}
