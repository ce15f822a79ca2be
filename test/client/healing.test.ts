import { type Book, type BookUpdate, checksumOf, type LiveState, type Orderbook } from 'ctf-exchange-client';
import { createFollowedBook } from '../../packages/client/src/followed-book';
import {
  CATCH_UP_MS_MAX,
  type Effect,
  type Following,
  type FollowingEvent,
  HEALTHY_MS,
  type Since,
  step,
  unfollowed,
} from '../../packages/client/src/following';

const SILENCE_MS_MAX = 12_000;
const NOW_MS = 1_000_000;
const EPOCH = 'e1';

type Event = FollowingEvent extends infer E ? (E extends unknown ? Omit<E, 'nowMs'> : never) : never;

/** Every sequence has one more bid, so that each book has its own checksum. */
function bookAt(sequence: number): Book {
  const bids = Array.from({ length: sequence }, (_, i) => ({ price: `0.${50 - i}`, size: '1' }));
  return { sequence, bids, asks: [] };
}
const snapshotOf = (sequence: number, checksum = checksumOf(bookAt(sequence))): Event =>
  ({ type: 'snapshot', body: { ...bookAt(sequence), checksum } }) as unknown as Event;
function updateTo(
  sequence: number,
  previousSequence = sequence - 1,
  checksum = checksumOf(bookAt(sequence)),
): Event {
  const { bids } = bookAt(sequence);
  const added = bids.slice(previousSequence).map(({ price, size }) => [price, size]);
  const update = { sequence, previousSequence, changes: { bids: added, asks: [] }, checksum };
  return { type: 'update', update: update as unknown as BookUpdate };
}
const answer = (question: number, sequence: number, epoch: string | undefined = EPOCH): Event => ({
  type: 'answered',
  question,
  ack: { ok: true, subscribed: [{ conditionId: '0x', sequence }], ...(epoch ? { epoch } : {}) },
});
const refusal = (question: number, code: string): Event => ({
  type: 'answered',
  question,
  ack: { ok: false, error: { code, detail: 'not now' } },
});

/** Runs events at one moment from the last state; returns the next state and all effects. */
function run(from: Following, events: readonly Event[], nowMs = NOW_MS): [Following, readonly Effect[]] {
  let state = from;
  const effects: Effect[] = [];
  for (const event of events) {
    const [next, done] = step(state, { ...event, nowMs } as FollowingEvent);
    state = next;
    effects.push(...done);
  }
  return [state, effects];
}

const NEW = unfollowed(SILENCE_MS_MAX);
/** In step at 3: connected, acknowledged, and the snapshot has arrived. */
const [LIVE] = run(NEW, [{ type: 'connected' }, answer(1, 3), snapshotOf(3)]);
const since = (lastSequence: number, epoch = EPOCH): Since => ({ lastSequence, epoch });
const MISSING = since(3);
const SNAPSHOT = null;

const asked = (effects: readonly Effect[]): (Since | null)[] =>
  effects.flatMap((one) => (one.type === 'ask' ? [one.question.since] : []));
const told = (effects: readonly Effect[]): [LiveState, string][] =>
  effects.flatMap((one) => (one.type === 'tellState' ? [[one.state, one.why]] : []));
const pauses = (effects: readonly Effect[]): (number | null)[] =>
  effects.flatMap((one) => (one.type === 'pause' ? [one.pauseMs] : []));
const errors = (effects: readonly Effect[]): string[] =>
  effects.flatMap((one) => (one.type === 'tellError' ? [one.error.code] : []));

test('a book is live when the promised snapshot has come, and not before', () => {
  const [connected, asking] = run(NEW, [{ type: 'connected' }]);
  expect([connected.state, asked(asking)]).toEqual(['reconnecting', [SNAPSHOT]]);
  const [answered, nothing] = run(connected, [answer(1, 3)]);
  expect([answered.state, nothing]).toEqual(['reconnecting', []]);
  const [early] = run(answered, [snapshotOf(2)]);
  expect([early.state, early.book?.sequence]).toEqual(['reconnecting', 2]);
  const [live, effects] = run(early, [updateTo(3)]);
  expect([live.state, live.book]).toEqual(['live', bookAt(3)]);
  expect(effects.map(({ type }) => type)).toEqual(['tellBook', 'tellState']);
  expect(told(effects)).toEqual([['live', 'in step']]);
});

test('an update that fits is applied, and one that the book already has is dropped', () => {
  const [next, effects] = run(LIVE, [updateTo(4), updateTo(4), updateTo(3), updateTo(5, 2)]);
  expect(next.book).toEqual(bookAt(5));
  expect(effects.map(({ type }) => type)).toEqual(['tellBook', 'tellBook']);
  expect(next.state).toBe('live');
});

interface Row {
  readonly what: string;
  readonly event: Event;
  /** The time since the book became live. */
  readonly afterMs?: number;
  /** The calls to its users, and the requests to the exchange. */
  readonly why: string;
  readonly wanted: Since | null;
}

const HEALING: readonly Row[] = [
  {
    what: 'an update that leaves a gap',
    event: updateTo(5),
    why: 'updates after 3 are missing',
    wanted: MISSING,
  },
  {
    what: 'a heartbeat that is ahead',
    event: { type: 'heartbeat', sequence: 4 },
    why: 'updates up to 4 are missing',
    wanted: MISSING,
  },
  {
    what: 'silence',
    event: { type: 'checked' },
    afterMs: SILENCE_MS_MAX + 1,
    why: 'neither an update nor a heartbeat came',
    wanted: MISSING,
  },
  {
    what: 'an update whose checksum does not fit',
    event: updateTo(4, 3, '0'),
    why: 'the checksum does not fit',
    wanted: SNAPSHOT,
  },
  {
    what: 'a snapshot whose checksum does not fit',
    event: snapshotOf(7, '0'),
    why: 'the checksum of a snapshot does not fit',
    wanted: SNAPSHOT,
  },
  {
    what: 'another epoch',
    event: { type: 'epoch', epoch: 'e2' },
    why: 'the exchange has another epoch',
    wanted: SNAPSHOT,
  },
];

test.each(HEALING)('$what makes a live book stale, and the book requests what heals it', (row) => {
  const { event, why, wanted, afterMs = 0 } = row;
  const [next, effects] = run(LIVE, [event], NOW_MS + afterMs);
  expect([told(effects), asked(effects)]).toEqual([[['stale', why]], [wanted]]);
  expect([next.state, next.book]).toEqual(['stale', bookAt(3)]);
  const came = wanted === SNAPSHOT ? [answer(2, 5), snapshotOf(5)] : [answer(2, 5), updateTo(5, 3)];
  const [healed, more] = run(next, came, NOW_MS + afterMs);
  expect([healed.state, healed.book, told(more)]).toEqual(['live', bookAt(5), [['live', 'in step']]]);
});

test('a short silence heals nothing', () => {
  expect(run(LIVE, [{ type: 'checked' }], NOW_MS + SILENCE_MS_MAX)).toEqual([LIVE, []]);
});

test('a promise that is not kept in time leads to a snapshot', () => {
  const [promised] = run(NEW, [{ type: 'connected' }, answer(1, 3)]);
  const [patient, nothing] = run(promised, [{ type: 'checked' }], NOW_MS + CATCH_UP_MS_MAX);
  expect([patient, nothing]).toEqual([promised, []]);
  const resumed = run(LIVE, [{ type: 'heartbeat', sequence: 5 }, answer(2, 5)])[0];
  const [next, effects] = run(resumed, [{ type: 'checked' }], NOW_MS + CATCH_UP_MS_MAX + 1);
  expect(next.needsSnapshot).toBe(true);
  // It was stale already, and its users know.
  expect([told(effects), pauses(effects)]).toEqual([[], [250]]);
  const [, later] = run(next, [{ type: 'paused' }]);
  expect(asked(later)).toEqual([SNAPSHOT]);
});

test('an update that leaves a gap while a request is open waits for its answer', () => {
  const [asking] = run(LIVE, [{ type: 'heartbeat', sequence: 5 }]);
  expect(run(asking, [updateTo(6)])).toEqual([{ ...asking }, []]);
});

test('a missing answer ends the connection, and an answer to an earlier request is ignored', () => {
  const [connected] = run(NEW, [{ type: 'connected' }]);
  expect(run(connected, [{ type: 'answered', question: 1, ack: null }])[1]).toEqual([{ type: 'drop' }]);
  const [again] = run(connected, [{ type: 'disconnected', why: 'gone' }, { type: 'connected' }]);
  expect(run(again, [answer(1, 3), { type: 'answered', question: 1, ack: null }])).toEqual([again, []]);
});

test.each([
  ['UNAVAILABLE', MISSING],
  ['RATE_LIMITED', MISSING],
  ['INVALID_REQUEST', SNAPSHOT],
])('a refusal with %s is told, and asked again', (code, wanted) => {
  const [asking] = run(LIVE, [{ type: 'heartbeat', sequence: 5 }]);
  const [next, effects] = run(asking, [refusal(2, code)]);
  expect([errors(effects), pauses(effects)]).toEqual([[code], [250]]);
  expect(asked(run(next, [{ type: 'paused' }])[1])).toEqual([wanted]);
});

test('an answer with a lower sequence or another epoch leads to a snapshot, and updates before it are ignored', () => {
  for (const other of [answer(2, 2), answer(2, 3, 'e2'), answer(2, 3, '')]) {
    const [asking] = run(LIVE, [{ type: 'disconnected', why: 'gone' }, { type: 'connected' }]);
    const [broken, effects] = run(asking, [other, updateTo(4)]);
    expect([broken.book?.sequence, effects]).toEqual([3, []]);
    const [healed, more] = run(broken, [snapshotOf(2), snapshotOf(4)]);
    expect([healed.state, healed.book?.sequence]).toEqual(['live', 4]);
    expect(told(more)).toEqual([['live', 'in step']]);
  }
});

test('a known epoch heals nothing, unless the answer to a request is still pending', () => {
  expect(run(LIVE, [{ type: 'epoch', epoch: EPOCH }])).toEqual([LIVE, []]);
  const [asking] = run(LIVE, [{ type: 'heartbeat', sequence: 5 }]);
  const [next, effects] = run(asking, [{ type: 'epoch', epoch: EPOCH }]);
  expect([next.needsSnapshot, pauses(effects)]).toEqual([true, [250]]);
  const [away] = run(LIVE, [{ type: 'disconnected', why: 'gone' }]);
  expect(run(away, [{ type: 'epoch', epoch: 'e2' }])).toEqual([away, []]);
});

test('a book that reconnects requests what it missed, of the epoch it knows', () => {
  const [away, gone] = run(LIVE, [{ type: 'disconnected', why: 'transport close' }]);
  expect([told(gone), pauses(gone)]).toEqual([[['reconnecting', 'transport close']], [null]]);
  expect(asked(run(away, [{ type: 'connected' }])[1])).toEqual([MISSING]);
  // A position without an epoch cannot be sent.
  const [unnamed] = run(NEW, [{ type: 'connected' }, answer(1, 3, ''), snapshotOf(3)]);
  const back: Event[] = [{ type: 'disconnected', why: 'gone' }, { type: 'connected' }];
  expect(asked(run(unnamed, back)[1])).toEqual([SNAPSHOT]);
});

test('pauses between requests double up to four seconds, and a healthy stretch resets them', () => {
  const waited: (number | null)[] = [];
  let [asking] = run(LIVE, [{ type: 'heartbeat', sequence: 5 }]);
  for (let round = 0; round < 6; round++) {
    const [next, effects] = run(asking, [refusal(asking.questions, 'UNAVAILABLE')]);
    waited.push(...pauses(effects));
    asking = run(next, [{ type: 'paused' }])[0];
  }
  expect(waited).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000]);
  const [healed] = run(asking, [answer(asking.questions, 3)]);
  expect(healed.state).toBe('live');
  const soon = run(healed, [{ type: 'heartbeat', sequence: 4 }], NOW_MS + HEALTHY_MS)[1];
  const late = run(healed, [{ type: 'heartbeat', sequence: 4 }], NOW_MS + HEALTHY_MS + 1)[1];
  expect([pauses(soon), pauses(late)]).toEqual([[4_000], [null]]);
});

test('a book that its handler stops while it heals notifies it of nothing more', () => {
  const questions: (Since | null)[] = [];
  const states: LiveState[] = [];
  const book = createFollowedBook({
    conditionId: '0x',
    silenceMsMax: SILENCE_MS_MAX,
    link: {
      subscribe: (conditionId, wanted, tell) => {
        questions.push(wanted);
        tell({ ok: true, subscribed: [{ conditionId, sequence: 3 }], epoch: EPOCH });
      },
      drop: () => undefined,
    },
    events: {
      onBook: () => undefined,
      onState: (state) => {
        states.push(state);
        if (state === 'stale') book.stop();
      },
      onError: () => undefined,
    },
  });
  book.connected();
  book.snapshot({ ...bookAt(3), checksum: checksumOf(bookAt(3)) } as unknown as Orderbook);
  book.heartbeat({ conditionId: '0x', sequence: 4, timestamp: NOW_MS });
  expect([states, questions]).toEqual([
    ['live', 'stale'],
    [SNAPSHOT, MISSING],
  ]);
});
