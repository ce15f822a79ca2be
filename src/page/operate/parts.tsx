import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Action } from './use';

export function Problem({ text }: { text: string | null }) {
  return text === null ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: 'text' | 'password' | 'url' | 'datetime-local';
  readonly hint?: string;
  readonly isLong?: boolean;
  readonly max?: number;
}

export function Field({ label, value, onValue, type = 'text', hint, isLong = false, max }: FieldProps) {
  const id = useId();
  const common = {
    id,
    value,
    ...(max === undefined ? {} : { maxLength: max }),
    ...(hint ? { 'aria-describedby': `${id}-hint` } : {}),
    autocomplete: 'off' as const,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isLong ? (
        <textarea {...common} rows={4} onInput={(event) => onValue(event.currentTarget.value)} />
      ) : (
        // Text inputs of different types differ only in their roles.
        <input {...common} type={type as 'text'} onInput={(event) => onValue(event.currentTarget.value)} />
      )}
      {hint && (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
    </div>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, words: string])[];
  readonly onValue: (value: T) => void;
}

export function Choice<T extends string>({ label, value, options, onValue }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value as T)}>
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

interface ConfirmedProps {
  /** The word that the operator must type exactly. */
  readonly word: string;
  readonly label: string;
  readonly action: Action;
  readonly onConfirm: () => void;
}

/** A button for an action that cannot be undone or affects everyone: the operator must type its word. */
export function Confirmed({ word, label, action, onConfirm }: ConfirmedProps) {
  const [typed, setTyped] = useState('');
  const isTyped = typed.trim().toLowerCase() === word.toLowerCase();
  return (
    <form
      class="confirm"
      onSubmit={(event) => {
        event.preventDefault();
        if (isTyped) onConfirm();
      }}
    >
      <Field label={`Type ${word} to confirm`} value={typed} onValue={setTyped} />
      <button type="submit" class="button button-danger" disabled={!isTyped || action.isBusy}>
        {action.isBusy ? 'Working…' : label}
      </button>
      <Problem text={action.error} />
    </form>
  );
}

interface TableProps {
  readonly caption: string;
  readonly head: readonly string[];
  /** The columns with amounts, which are compared by their right ends. */
  readonly amounts?: readonly string[];
  readonly rows: readonly { readonly key: string; readonly cells: readonly ComponentChildren[] }[];
  readonly empty: string;
}

/** A row is a card on a phone, each cell under the name of its column. */
export function Table({ caption, head, amounts = [], rows, empty }: TableProps) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {head.map((name) => (
            <th key={name} scope="col" class={amounts.includes(name) ? 'amount' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells }) => (
          <tr key={key} data-row={key}>
            {cells.map((content, i) => (
              <td
                key={head[i]}
                data-label={head[i]}
                class={amounts.includes(head[i] ?? '') ? 'amount' : undefined}
              >
                {content}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface PagerProps {
  /** The cursors of the pages before this one, and of this one. */
  readonly cursors: readonly string[];
  readonly next: string | null | undefined;
  readonly names: readonly [back: string, more: string];
  readonly onCursors: (cursors: readonly string[]) => void;
}

/** The buttons below a list that comes in pages. */
export function Pager({ cursors, next, names: [back, more], onCursors }: PagerProps) {
  return (
    <div class="tools">
      {cursors.length > 0 && (
        <button type="button" class="button" onClick={() => onCursors(cursors.slice(0, -1))}>
          {back}
        </button>
      )}
      {next && (
        <button type="button" class="button" onClick={() => onCursors([...cursors, next])}>
          {more}
        </button>
      )}
    </div>
  );
}

export const shortHash = (text: string): string =>
  text.length > 14 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text;

const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** By this device's clock, and by UTC, which logs and colleagues elsewhere use. */
export function timeWords(iso: string | null): string {
  if (iso === null) return '–';
  const at = new Date(iso);
  return `${TIMES.format(at)} (${at.toISOString().slice(11, 16)} UTC)`;
}

/** Saves rows as a file; a field that a spreadsheet would read as a formula becomes text. */
export function saveCsv(name: string, rows: readonly (readonly string[])[]): void {
  const quoted = (text: string): string => `"${text.replace(/^[=+@\t\r-]/, "'$&").replace(/"/g, '""')}"`;
  const text = rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = `${name}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

export function ageWords(seconds: number | null): string {
  if (seconds === null) return 'none';
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}
