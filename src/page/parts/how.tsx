import { useState } from 'preact/hooks';
import { keep, kept } from '../local-storage';

const NAME = 'how-it-works';

/** Shown on a first visit; once dismissed, it does not return. */
export const HowItWorks = () => {
  const [isShown, setShown] = useState(kept(NAME) === null);
  if (!isShown) return null;
  return (
    <section class="card how" aria-labelledby="how-title">
      <div class="dialog-head">
        <h2 id="how-title">How this works</h2>
        <button
          type="button"
          class="link"
          onClick={() => {
            keep(NAME, 'seen');
            setShown(false);
          }}
        >
          Got it
        </button>
      </div>
      <ol>
        <li>Pick the outcome that you believe in.</li>
        <li>Pay its price in cents: 30¢ means a chance of 30%.</li>
        <li>Get $1 a share if it happens, or sell at any time before.</li>
      </ol>
    </section>
  );
};
