import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useCell } from '../cell';
import { act, doorWords, hashText, type LogEntry, lastEntry, readAddress, token, useToken } from './api';
import { sentenceOf, undoOf } from './log-words';
import { Markets } from './markets';
import { attentionOf, Overview, useOverview } from './overview';
import { Field, Problem, timeWords } from './parts';
import { People } from './people';
import { Audit, Log, resultWords } from './records';
import { Settlements } from './settlements';
import { useAction } from './use';

const VIEWS = {
  overview: ['Overview', Overview],
  markets: ['Markets', Markets],
  settlements: ['Settlements', Settlements],
  people: ['People', People],
  audit: ['Audit', Audit],
  log: ['Log', Log],
} as const;
type View = keyof typeof VIEWS;

const viewInAddress = (): View => {
  const name = hashText();
  return Object.hasOwn(VIEWS, name) ? (name as View) : 'overview';
};

function Console() {
  const [view, setView] = useState(viewInAddress);
  const last = useCell(lastEntry);
  useEffect(() => {
    const follow = (): void => {
      // What an action wrote into the log belongs to its view.
      lastEntry.set(null);
      setView(viewInAddress());
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const overview = useOverview();
  const count = attentionOf(overview)?.length ?? 0;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}Operate`;
  }, [count]);
  const [title, Content] = VIEWS[view];
  return (
    <>
      <header class="bar">
        <strong>Operate</strong>
        <nav aria-label="Console">
          {Object.entries(VIEWS).map(([name, [words]]) => (
            <a key={name} href={`#${name}`} aria-current={name === view ? 'page' : undefined}>
              {words}
            </a>
          ))}
          <a href="/admin/queues" target="_blank" rel="noreferrer">
            Queues
          </a>
        </nav>
        <button type="button" class="button button-small" onClick={() => useToken(null)}>
          Leave
        </button>
      </header>
      <main>
        <h1>{title}</h1>
        <p class="entry" role="status" data-testid="log-entry">
          {last && entryWords(last.entry, last.about)}
          {last && <Undo entry={last.entry} about={last.about} />}
        </p>
        <Content key={view} overview={overview} />
      </main>
    </>
  );
}

const entryWords = (entry: LogEntry, about: string | null): string =>
  `${sentenceOf(entry, about ?? undefined)}. In the log: ${entry.action}, ${resultWords(entry)}, ${timeWords(entry.at)}, from ${entry.address}.`;

/** Takes the latest action back by another one, which has a line of its own in the log. */
function Undo({ entry, about }: { entry: LogEntry; about: string | null }) {
  const action = useAction();
  const undo = entry.code === null ? undoOf(entry) : null;
  if (!undo) return null;
  return (
    <>
      {' '}
      <button
        type="button"
        class="button button-small"
        disabled={action.isBusy}
        onClick={() => void action.run(() => act('POST', undo.path, undefined, about))}
      >
        Undo: {undo.words}
      </button>
      <Problem text={action.error} />
    </>
  );
}

/** Without a token: the link of `npm start` has it, or the operator types it. */
function Door() {
  const [typed, setTyped] = useState('');
  const error = useCell(doorWords);
  const enter = (): void => {
    doorWords.set(null);
    useToken(typed.trim());
  };
  return (
    <main class="door">
      <h1>Operate the exchange</h1>
      <p>
        Open the link that <code>npm start</code> prints, or enter the <code>ADMIN_TOKEN</code> of the
        exchange. This tab keeps it until it is closed.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          enter();
        }}
      >
        <Field label="Operator's token" type="password" value={typed} onValue={setTyped} />
        <button type="submit" class="button button-primary" disabled={typed.trim() === ''}>
          Enter
        </button>
      </form>
      <Problem text={error} />
    </main>
  );
}

function App() {
  const held = useCell(token);
  return (
    <div class="console">
      <Guarded isIn={held !== null} />
    </div>
  );
}

const Guarded = ({ isIn }: { isIn: boolean }) => (isIn ? <Console /> : <Door />);

void readAddress();
addEventListener('hashchange', () => void readAddress());
const root = document.getElementById('app');
if (root) render(<App />, root);
