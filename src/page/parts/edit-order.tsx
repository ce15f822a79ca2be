import type { Order } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { reloadAccount, useWallet } from '../account-data';
import { client } from '../exchange';
import { remembered } from '../market-list-data';
import { judge } from '../order-draft';
import { namesOf } from '../outcome-names';
import { signerOf } from '../sign-in';
import { centsField, pipsOf } from '../units';
import { type Refused, wordsFor } from '../words';

interface Props {
  readonly order: Order;
  onDone(): void;
}

/** Changes price or size: the old order is cancelled only if the new one is booked. */
export const EditOrder = ({ order, onDone }: Props) => {
  const wallet = useWallet();
  const market = remembered(order.marketId);
  const [price, setPrice] = useState(centsField(pipsOf(order.price)));
  const [shares, setShares] = useState(order.remainingSize);
  const [refused, setRefused] = useState<Refused | null>(null);
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    if (!wallet || !market || isBusy) return;
    const { side, outcomeIndex, expiration } = order;
    const orderType = order.orderType === 'POST_ONLY' ? 'POST_ONLY' : 'GTC';
    const expiresAtMs = expiration === '0' ? null : Number(expiration) * 1_000;
    const inputs = { side, outcome: outcomeIndex, orderType, price, shares, expiresAtMs } as const;
    const judged = judge(inputs, { market, book: null, free: null });
    if ('refused' in judged) return setRefused(judged.refused);
    setBusy(true);
    setRefused(null);
    try {
      const signer = await signerOf(wallet);
      await client.replace(signer, market.id, order.orderHash, judged.order);
      reloadAccount();
      onDone();
    } catch (error) {
      const names = namesOf(market);
      const { tickSize: tick, lotSize: lot, minOrderSize: least } = market;
      setRefused(wordsFor(error, { side, outcome: names[outcomeIndex], names, tick, lot, least }));
      setBusy(false);
    }
  };
  const field = (name: string, value: string, set: (text: string) => void) => (
    <label class="edit-field">
      {name}
      <input
        type="text"
        inputMode="decimal"
        value={value}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
    </label>
  );
  return (
    <form
      class="edit-order"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {field('New price in cents', price, setPrice)}
      {field('New shares', shares, setShares)}
      <button type="submit" class="button button-small" disabled={isBusy}>
        Replace
      </button>
      <span class="hint">The old order ends, and the new one goes to the end of its queue.</span>
      {refused !== null && (
        <span class="hint refused" role="alert">
          {refused.text}
        </span>
      )}
    </form>
  );
};
