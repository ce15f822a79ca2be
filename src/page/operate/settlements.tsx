import { useState } from 'preact/hooks';
import { get, nowMs, type Page } from './api';
import { ageWords, Choice, Problem, saveCsv, shortHash, Table } from './parts';
import { useLoaded, useQuestions } from './use';

interface Settlement {
  readonly id: string;
  readonly marketId: string;
  readonly status: string;
  readonly takerOrder: unknown;
  readonly makerOrders: readonly unknown[];
  readonly takerFillAmount: string;
  readonly makerFillAmounts: readonly string[];
  readonly attempts: number;
  readonly transactionHash: string | null;
  readonly createdAt: string;
}

const STATUSES = [
  ['', 'All, newest first'],
  ['FAILED', 'Failed'],
  ['RETRYING', 'Retrying'],
  ['MATCHED', 'Matched'],
  ['SUBMITTED', 'Submitted'],
  ['CONFIRMED', 'Confirmed'],
] as const;
const EVERY_MS = 10_000;

export function Settlements() {
  const [status, setStatus] = useState<(typeof STATUSES)[number][0]>('');
  const [copied, setCopied] = useState<string | null>(null);
  const list = useLoaded(() => get<Page<Settlement>>('/admin/settlements', { status }), [status], EVERY_MS);
  const rows = list.value?.data ?? [];
  const questions = useQuestions(rows.map(({ marketId }) => marketId));
  const save = (): void =>
    saveCsv('settlements', [
      ['settlement', 'market', 'status', 'created', 'attempts', 'transaction'],
      ...rows.map((one) => [
        one.id,
        questions.get(one.marketId) ?? one.marketId,
        one.status,
        one.createdAt,
        String(one.attempts),
        one.transactionHash ?? '',
      ]),
    ]);
  const copy = async ({ id, takerOrder, makerOrders, takerFillAmount, makerFillAmounts }: Settlement) => {
    const call = { takerOrder, makerOrders, takerFillAmount, makerFillAmounts };
    await navigator.clipboard.writeText(JSON.stringify(call, null, 2));
    setCopied(id);
  };
  return (
    <>
      <div class="tools">
        <Choice label="Status" value={status} options={STATUSES} onValue={setStatus} />
        <a class="button" href="/admin/queues" target="_blank" rel="noreferrer">
          Retry jobs in the queues
        </a>
        <button type="button" class="button" disabled={rows.length === 0} onClick={save}>
          Save this page as CSV
        </button>
      </div>
      <p class="hint">
        The queues ask for a user and a password: <code>admin</code> and the operator's token.
      </p>
      <Problem text={list.error} />
      {list.value && (
        <Table
          caption="Settlements"
          head={['Settlement', 'Market', 'Status', 'Age', 'Attempts', 'Transaction', 'matchOrders']}
          amounts={['Attempts']}
          empty="No such settlement."
          rows={rows.map((one) => ({
            key: one.id,
            cells: [
              one.id,
              questions.get(one.marketId) ?? shortHash(one.marketId),
              one.status,
              ageWords((nowMs() - Date.parse(one.createdAt)) / 1_000),
              String(one.attempts),
              one.transactionHash === null ? 'none' : shortHash(one.transactionHash),
              <button
                type="button"
                class="button button-small"
                aria-label={`Copy the arguments of ${one.id}`}
                onClick={() => void copy(one)}
              >
                {copied === one.id ? 'Copied' : 'Copy arguments'}
              </button>,
            ],
          }))}
        />
      )}
    </>
  );
}
