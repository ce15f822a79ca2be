import { useState } from 'preact/hooks';
import { isOpen, reloadAccount, useAccount } from '../account-data';
import { useCell } from '../cell';
import { client } from '../exchange';
import { areKeysOff, keyDialog, switchKeys } from '../keys';
import { tell } from '../toasts';
import { wordsFor } from '../words';
import { Dialog } from './dialog';

/** The keyboard shortcuts of the page, in the order of their list. */
const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Search markets'],
  ['b, s', 'Buy, sell'],
  ['y, n', 'The first outcome, the second'],
  ['↑ ↓', 'In the price: a step up or down; with Shift ten'],
  ['x', 'Cancel all open orders, after a question'],
  ['Esc', 'Leave a field'],
  ['?', 'This list'],
];

const close = (): void => keyDialog.set(null);

/** What the keys `?` and `x` open. */
export const KeyDialog = () => (useCell(keyDialog) === 'cancel' ? <CancelAsk /> : <KeyHelp />);

const KeyHelp = () => (
  <Dialog title="Keys" onClose={close}>
    <dl class="facts">
      {KEYS.map(([key, what]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
    <KeySwitch class="button" />
  </Dialog>
);

/** Who dictates, or presses keys by accident, does without the shortcuts. */
export const KeySwitch = (props: { readonly class: string }) => (
  <button type="button" class={props.class} onClick={switchKeys}>
    Turn keyboard shortcuts {useCell(areKeysOff) ? 'on' : 'off'}
  </button>
);

/** A single key ends orders in every market, so it asks before. */
const CancelAsk = () => {
  const count = (useAccount().orders ?? []).filter(isOpen).length;
  const [isBusy, setBusy] = useState(false);
  const cancel = async (): Promise<void> => {
    setBusy(true);
    try {
      const done = (await client.cancelAll()).count;
      tell(`${done} ${done === 1 ? 'order is' : 'orders are'} cancelled.`);
    } catch (error) {
      tell(wordsFor(error).text, 'bad');
    }
    reloadAccount();
    close();
  };
  const orders = count === 1 ? '1 order' : `${count} orders`;
  return (
    <Dialog title={`Cancel ${orders}?`} onClose={close}>
      <p>All your open orders leave the books, in every market.</p>
      <button
        type="button"
        class="button button-wide"
        autofocus
        disabled={isBusy}
        onClick={() => void cancel()}
      >
        Cancel {orders} (Enter)
      </button>
    </Dialog>
  );
};
