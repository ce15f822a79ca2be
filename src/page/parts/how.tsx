import { useEffect, useState } from 'preact/hooks';
import { useAccount } from '../account-data';
import { keep, kept } from '../local-storage';

const NAME = 'how-it-works';

/** Shown until the first trade; once dismissed, it does not return. */
export const HowItWorks = () => {
  const [isShown, setShown] = useState(kept(NAME) === null);
  const hasTraded = useAccount().trades?.length;
  const dismiss = (): void => {
    keep(NAME, 'seen');
    setShown(false);
  };
  useEffect(() => {
    if (hasTraded) dismiss();
  }, [hasTraded]);
  if (!isShown) return null;
  return (
    <section class="card how" aria-labelledby="how-title">
      <div class="dialog-head">
        <h2 id="how-title">How this works</h2>
        <button type="button" class="link" onClick={dismiss}>
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
