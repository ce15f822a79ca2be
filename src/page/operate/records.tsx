import { useState } from 'preact/hooks';
import { get, type LogEntry, type Page } from './api';
import { marketIn, sentenceOf } from './log-words';
import { Pager, Problem, saveCsv, Table, timeWords } from './parts';
import { useAction, useLoaded, useQuestions } from './use';

interface Report {
  readonly ok: boolean;
  readonly checked: Readonly<Record<string, number>>;
  readonly differences: readonly (Readonly<Record<string, unknown>> & {
    readonly kind: string;
    readonly detail: string;
    readonly expected?: string;
    readonly found?: string;
  })[];
}

export function Audit() {
  const [report, setReport] = useState<Report | null>(null);
  const action = useAction();
  const run = () => action.run(async () => setReport(await get<Report>('/admin/audit')));
  return (
    <>
      <p>The audit computes every balance, book and settlement again from the orders, and compares.</p>
      <div class="tools">
        <button
          type="button"
          class="button button-primary"
          disabled={action.isBusy}
          onClick={() => void run()}
        >
          {action.isBusy ? 'Comparing…' : 'Run the audit'}
        </button>
      </div>
      <Problem text={action.error} />
      {report && (
        <section class="panel" aria-labelledby="audit" role="status">
          <h2 id="audit">{report.ok ? 'Nothing differs' : `${report.differences.length} differences`}</h2>
          <p>
            {Object.entries(report.checked)
              .map(([name, count]) => `${count} ${name}`)
              .join(', ')}
          </p>
          {!report.ok && (
            <Table
              caption="Differences"
              head={['Kind', 'What', 'Expected', 'Found', 'Where']}
              empty=""
              rows={report.differences.map(({ kind, detail, expected, found, ...where }, i) => ({
                key: String(i),
                cells: [kind, detail, expected ?? '–', found ?? '–', JSON.stringify(where)],
              }))}
            />
          )}
        </section>
      )}
    </>
  );
}

export function Log() {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1) ?? '';
  const list = useLoaded(() => get<Page<LogEntry>>('/admin/log', { cursor }), [cursor]);
  const entries = list.value?.data ?? [];
  const questions = useQuestions(entries.map(marketIn));
  const sentence = (entry: LogEntry): string => sentenceOf(entry, questions.get(marketIn(entry) ?? ''));
  const save = (): void =>
    saveCsv('operators-log', [
      ['time', 'what', 'action', 'path', 'body', 'address', 'agent', 'result'],
      ...entries.map((entry) => [
        entry.at,
        sentence(entry),
        entry.action,
        entry.path,
        JSON.stringify(entry.body),
        entry.address,
        entry.agent ?? '',
        resultWords(entry),
      ]),
    ]);
  return (
    <>
      <div class="tools">
        <button type="button" class="button" onClick={list.again}>
          Read again
        </button>
        <button type="button" class="button" disabled={entries.length === 0} onClick={save}>
          Save this page as CSV
        </button>
      </div>
      <Problem text={list.error} />
      {list.value && (
        <Table
          caption="Operators' log"
          head={['When', 'What', 'Action', 'Who', 'Result']}
          empty="The log has no action yet."
          rows={entries.map((entry) => ({
            key: entry.id,
            cells: [
              timeWords(entry.at),
              <span title={`${entry.path} ${JSON.stringify(entry.body)}`}>{sentence(entry)}</span>,
              entry.action,
              `${entry.address}${entry.agent ? `, ${entry.agent.slice(0, 40)}` : ''}`,
              resultWords(entry),
            ],
          }))}
        />
      )}
      <Pager
        cursors={cursors}
        next={list.value?.nextCursor}
        names={['Newer', 'Older']}
        onCursors={setCursors}
      />
    </>
  );
}

export const resultWords = ({ status, code }: LogEntry): string =>
  status === null ? 'not finished' : code === null ? `done (${status})` : `refused: ${code}`;
