import { isHelpShown } from '../keys';
import { Dialog } from './dialog';

/** The keyboard shortcuts of the page, in the order of their list. */
const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Search markets'],
  ['b, s', 'Buy, sell'],
  ['y, n', 'The first outcome, the second'],
  ['↑ ↓', 'In the price: a step up or down; with Shift ten'],
  ['x', 'Cancel all open orders'],
  ['Esc', 'Leave a field'],
  ['?', 'This list'],
];

/** The list of shortcuts, opened by the key `?`. */
export const KeyHelp = () => (
  <Dialog title="Keys" onClose={() => isHelpShown.set(false)}>
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
  </Dialog>
);
