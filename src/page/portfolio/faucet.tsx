import { useState } from 'preact/hooks';
import { showBalances } from '../account-data';
import { client } from '../exchange';
import { wordsFor } from '../words';

export const Faucet = () => {
  const [said, setSaid] = useState<{ readonly text: string; readonly isRefusal: boolean } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const take = async (): Promise<void> => {
    setBusy(true);
    try {
      const balances = await client.faucet();
      showBalances(balances);
      const words = balances.approvals ? 'Test funds are on their way.' : 'Test funds have arrived.';
      setSaid({ text: words, isRefusal: false });
    } catch (error) {
      setSaid({ text: wordsFor(error).text, isRefusal: true });
    }
    setBusy(false);
  };
  return (
    <div class="faucet">
      <button type="button" class="button button-small" disabled={isBusy} onClick={() => void take()}>
        Get test funds
      </button>
      {said && (
        <p class={said.isRefusal ? 'hint refused' : 'hint'} role={said.isRefusal ? 'alert' : 'status'}>
          {said.text}
        </p>
      )}
    </div>
  );
};
