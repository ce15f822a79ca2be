import { useRef, useState } from 'preact/hooks';
import { fixed } from '../units';
import { act, get } from './api';
import { ageWords, Confirmed, Field, timeWords } from './parts';
import { type Loaded, useAction, useLoaded } from './use';

type Mode = 'NORMAL' | 'CANCEL_ONLY' | 'HALTED';

interface Warning {
  readonly name: string;
  readonly level: 'red' | 'amber';
  readonly detail: string;
}

export interface State {
  readonly mode: Mode;
  readonly message: string | null;
  readonly replicas: number;
  readonly redis: {
    readonly usedBytes: number;
    readonly maxBytes: number | null;
    readonly durability: string;
    readonly eviction: string | null;
  };
  readonly warnings: readonly Warning[];
  readonly outbox: {
    readonly length: number;
    readonly added: number;
    readonly readers: readonly {
      readonly reader: string;
      readonly unprocessed: number;
      readonly seconds: number;
    }[];
  };
  readonly settlements: {
    readonly unconfirmed: number;
    readonly failed: number;
    readonly oldestSeconds: number | null;
  };
  readonly lastAudit: { readonly succeededAt: string | null; readonly failedAt: string | null };
  readonly timestamp: number;
}

const MODES: readonly (readonly [Mode, string, string])[] = [
  ['NORMAL', 'Normal', 'Orders and cancels are taken.'],
  ['CANCEL_ONLY', 'Cancel only', 'New orders are refused; everybody can still cancel.'],
  ['HALTED', 'Halted', 'Orders and cancels are refused. Balances are safe.'],
];
const EVERY_MS = 5_000;
const MEGA = 1_048_576;

export const useOverview = (): Loaded<State> => useLoaded(() => get<State>('/admin/overview'), [], EVERY_MS);

/** What needs attention, red first; null until the exchange has answered or failed to. */
export function attentionOf({ value, error }: Loaded<State>): readonly Warning[] | null {
  if (error !== null) return [{ name: 'exchange', level: 'red', detail: error }, ...(value?.warnings ?? [])];
  return value && [...value.warnings].sort((a, b) => Number(b.level === 'red') - Number(a.level === 'red'));
}

/** Where an operator goes on. */
const LINKS: Readonly<Record<string, string>> = {
  resolution: 'markets',
  settlement: 'settlements',
  audit: 'audit',
};

function Attention({ list }: { list: readonly Warning[] }) {
  return (
    <section class={`panel attention attention-${list[0]?.level ?? 'green'}`} aria-labelledby="attention">
      <h2 id="attention">{list.length === 0 ? 'Nothing needs attention' : 'Needs attention'}</h2>
      {list.length > 0 && (
        <ul>
          {list.map(({ name, level, detail }) => (
            <li key={name} class={level} data-testid="attention" data-level={level}>
              <strong>{LINKS[name] ? <a href={`#${LINKS[name]}`}>{name}</a> : name}</strong>: {detail}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

export function Overview({ overview }: { overview: Loaded<State> }) {
  const { value: state, error, again } = overview;
  const attention = attentionOf(overview);
  const perSecond = useRate(state);
  if (!state) return attention && <Attention list={attention} />;
  const { redis, outbox, settlements } = state;
  const behind = outbox.readers.reduce((most, one) => (one.unprocessed > most.unprocessed ? one : most), {
    reader: '',
    unprocessed: 0,
    seconds: 0,
  });
  const hasWorker = !state.warnings.some(({ name }) => name.startsWith('worker'));
  const memory = `${fixed(redis.usedBytes / MEGA, 1)} MB${redis.maxBytes ? ` of ${Math.round(redis.maxBytes / MEGA)}` : ''}`;
  const figures: readonly (readonly [string, string, string])[] = [
    ['Mode', MODES.find(([mode]) => mode === state.mode)?.[1] ?? state.mode, state.message ?? 'No message'],
    ['Web processes', String(state.replicas), ''],
    ['Worker', hasWorker ? 'At work' : 'None', hasWorker ? '' : 'Nothing expires, closes or settles'],
    ['Redis memory', memory, redis.eviction ?? ''],
    [
      'Durability',
      redis.durability,
      /^(always|replicated)$/.test(redis.durability) ? 'Every answer is kept' : 'A crash may lose answers',
    ],
    [
      'Outbox lag',
      `${behind.unprocessed} entries`,
      behind.unprocessed ? `${behind.reader}, ${ageWords(behind.seconds)}` : 'All readers are up to date',
    ],
    ['Changes a second', perSecond, 'Orders, cancels and all else'],
    [
      'Oldest unsettled',
      ageWords(settlements.oldestSeconds),
      `${settlements.unconfirmed} unconfirmed, ${settlements.failed} failures ever`,
    ],
    ['Last audit', ...auditWords(state.lastAudit)],
  ];
  return (
    <>
      {attention && <Attention list={attention} />}
      {error !== null && (
        <p class="problem">
          The figures below are old: {timeWords(new Date(state.timestamp).toISOString())}.
        </p>
      )}
      <dl class={error === null ? 'figures' : 'figures figures-old'}>
        {figures.map(([name, value, more]) => (
          <div key={name} class="figure">
            <dt>{name}</dt>
            <dd>
              <strong>{value}</strong>
              <small>{more}</small>
            </dd>
          </div>
        ))}
      </dl>
      <ModeSwitch key={state.mode} mode={state.mode} message={state.message} onDone={again} />
    </>
  );
}

/** The last audit of any origin, as `doctor` knows it. */
function auditWords({ succeededAt, failedAt }: State['lastAudit']): readonly [string, string] {
  if (succeededAt === null && failedAt === null) return ['None', 'Run one under Audit'];
  // Both have the same form, so their order is that of time.
  return (failedAt ?? '') > (succeededAt ?? '')
    ? ['Failed, or found differences', timeWords(failedAt)]
    : ['Nothing differs', timeWords(succeededAt)];
}

/** The rate of entries between two readings. */
function useRate(state: State | null): string {
  const before = useRef<State | null>(null);
  const words = useRef('–');
  if (state && state !== before.current) {
    const last = before.current;
    const seconds = last ? (state.timestamp - last.timestamp) / 1_000 : 0;
    if (last && seconds > 0) words.current = fixed((state.outbox.added - last.outbox.added) / seconds, 1);
    before.current = state;
  }
  return words.current;
}

function ModeSwitch({ mode, message, onDone }: { mode: Mode; message: string | null; onDone: () => void }) {
  const [chosen, setChosen] = useState<Mode>(mode);
  const [words, setWords] = useState(message ?? '');
  const action = useAction();
  const set = async (): Promise<void> => {
    const body = { mode: chosen, ...(words.trim() === '' ? {} : { message: words.trim() }) };
    if (await action.run(() => act('PUT', '/admin/mode', body))) onDone();
  };
  return (
    <section class="panel" aria-labelledby="mode">
      <h2 id="mode">Mode of the exchange</h2>
      <fieldset class="modes">
        <legend class="unseen">Mode</legend>
        {MODES.map(([one, name, meaning]) => (
          <label key={one} class="mode">
            <input type="radio" name="mode" checked={chosen === one} onChange={() => setChosen(one)} />
            <span>
              <strong>{name}</strong>
              <small>{meaning}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <Field
        label="Message for everybody"
        value={words}
        onValue={setWords}
        hint="The trading page shows it while it stands; leave it empty for none."
      />
      <Confirmed word={chosen} label="Set the mode" action={action} onConfirm={() => void set()} />
    </section>
  );
}
