import type { Balances, Market } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { reloadAccount, showBalances } from '../account-data';
import { client } from '../exchange';
import { type Holding, wholeLots } from '../holdings';
import { carryOut, sendOwn } from '../on-chain';
import { nameOf, namesOf } from '../outcome-names';
import { tell } from '../toasts';
import { counted, dollars, dollarsTyped, LOTS_ONE, microOf, PIPS_ONE, shares, sizeOf } from '../units';
import { wordsFor } from '../words';

/** One share of each outcome together is always worth a dollar. */
function useConversion() {
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const convert = async (
    work: () => Promise<Parameters<typeof showBalances>[0] | null>,
    done: string,
  ): Promise<boolean> => {
    setBusy(true);
    setRefused(null);
    try {
      const balances = await work();
      if (balances) showBalances(balances);
      reloadAccount();
      tell(balances ? done : `${done} It takes some seconds until this is final on the chain.`, 'good');
      return true;
    } catch (error) {
      setRefused(wordsFor(error).text);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, refused, convert };
}

const Refused = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <p class="hint refused" role="alert">
      {text}
    </p>
  );

interface MergeProps {
  readonly market: Market;
  readonly held: readonly Holding[];
}

/** Merges shares of both outcomes into collateral. */
export const Merge = ({ market, held }: MergeProps) => {
  const { isBusy, refused, convert } = useConversion();
  const free = (index: 0 | 1): number => held.find((one) => one.outcomeIndex === index)?.freeMicro ?? 0;
  const lots = wholeLots(Math.min(free(0), free(1)));
  if (lots === 0) return null;
  const worth = dollars(lots * PIPS_ONE);
  return (
    <div class="sets">
      <button
        type="button"
        class="button button-small"
        disabled={isBusy}
        onClick={() =>
          void convert(
            () => carryOut(() => client.merge(market.id, sizeOf(lots))),
            `${counted(lots, 'pair')} ${lots === LOTS_ONE ? 'is' : 'are'} ${worth} again.`,
          )
        }
      >
        Merge {counted(lots, 'pair')} into {worth}
      </button>
      <Refused text={refused} />
    </div>
  );
};

/** Redeems the shares of a market that has a result on the chain. */
export const Redeem = ({ market }: { readonly market: Market }) => {
  const { isBusy, refused, convert } = useConversion();
  return (
    <div class="sets">
      <button
        type="button"
        class="button button-small"
        disabled={isBusy}
        onClick={() => void convert(() => carryOut(() => client.redeem(market.id)), 'Your shares are paid.')}
      >
        Redeem your shares
      </button>
      <Refused text={refused} />
    </div>
  );
};

interface OwedProps {
  readonly market: Market;
  readonly owed: NonNullable<Balances['owed']>[number];
}

/** Claims shares that a contract wallet bought and then refused to receive. */
export const OwedShares = ({ market, owed: { outcomeIndex, amount, call } }: OwedProps) => {
  const { isBusy, refused, convert } = useConversion();
  return (
    <div class="sets">
      <p class="hint">
        The exchange contract holds {shares(wholeLots(microOf(amount)))} {nameOf(market, outcomeIndex ?? 0)}{' '}
        for you, because your wallet refused them.
      </p>
      <button
        type="button"
        class="button button-small"
        disabled={isBusy}
        onClick={() => void convert(() => sendOwn([call]), 'Your shares are in your wallet.')}
      >
        Claim them
      </button>
      <Refused text={refused} />
    </div>
  );
};

/** Splits collateral into shares of both outcomes, to sell one and keep the other. */
export const Split = ({ market }: { readonly market: Market }) => {
  const { isBusy, refused, convert } = useConversion();
  const [text, setText] = useState('');
  const [yes, no] = namesOf(market);
  const lots = Math.floor((dollarsTyped(text) ?? 0) / PIPS_ONE);
  const split = async (): Promise<void> => {
    const words = `${dollars(lots * PIPS_ONE)} are now ${shares(lots)} ${yes} and ${shares(lots)} ${no}.`;
    if (await convert(() => carryOut(() => client.split(market.id, sizeOf(lots))), words)) setText('');
  };
  return (
    <details class="sets">
      <summary>More</summary>
      <form
        class="split"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy && lots >= LOTS_ONE / 100) void split();
        }}
      >
        <label for="split-dollars">Split dollars into pairs</label>
        <span class="input">
          <input
            id="split-dollars"
            type="text"
            inputMode="decimal"
            placeholder="0"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <button type="submit" class="step step-wide" disabled={isBusy || lots === 0}>
            Split
          </button>
        </span>
      </form>
      <p class="hint">
        A dollar becomes one share of {yes} and one of {no}; a pair of them is a dollar again.
      </p>
      <Refused text={refused} />
    </details>
  );
};
