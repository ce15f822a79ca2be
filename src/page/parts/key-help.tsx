import { isHelpShown, KEYS } from '../keys';
import { Dialog } from './dialog';

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
