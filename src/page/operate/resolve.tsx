import type { Market } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { dollars, microOf } from '../units';
import { act, get } from './api';
import { Confirmed, Field, Problem } from './parts';
import { useAction, useLoaded } from './use';

/** `0` and `1` are the outcomes, `void` is no outcome. */
type Result = '0' | '1' | 'void';

interface Effect {
  readonly holders: number;
  readonly winners: number;
  readonly payout: string;
  readonly orders: number;
}

interface ResolveProps {
  readonly market: Market;
  readonly onDone: () => void;
}

/** Two steps: first the result and its evidence; then a preview of the effect, and its name to type. */
export function Resolve({ market, onDone }: ResolveProps) {
  const [result, setResult] = useState<Result | null>(null);
  const [evidence, setEvidence] = useState('');
  const [isSecond, setIsSecond] = useState(false);
  const choices: readonly (readonly [Result, string])[] = [
    ['0', market.outcomes[0]?.name ?? 'Yes'],
    ['1', market.outcomes[1]?.name ?? 'No'],
    ['void', 'Void: 50¢ for each token'],
  ];
  const isLink = evidence === '' || /^https:\/\/\S+\.\S+/.test(evidence);
  if (isSecond && result !== null) {
    return (
      <Second
        market={market}
        result={result}
        evidence={evidence}
        onDone={onDone}
        onBack={() => setIsSecond(false)}
      />
    );
  }
  return (
    <section class="panel" aria-labelledby="resolve">
      <h2 id="resolve">Resolve, step 1 of 2</h2>
      <p>{market.question}</p>
      <p class="hint">{market.description || 'It has no rules.'}</p>
      {market.resolutionSource && (
        <p>
          Source: <a href={market.resolutionSource}>{market.resolutionSource}</a>
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (result !== null && isLink) setIsSecond(true);
        }}
      >
        <fieldset class="modes">
          <legend>Which outcome won?</legend>
          {choices.map(([value, name]) => (
            <label key={value} class="mode">
              <input
                type="radio"
                name="result"
                checked={result === value}
                onChange={() => setResult(value)}
              />
              <strong>{name}</strong>
            </label>
          ))}
        </fieldset>
        {result !== 'void' && (
          <Field
            label="Evidence"
            value={evidence}
            onValue={setEvidence}
            type="url"
            hint="An https page that shows the result. The market shows it for good."
          />
        )}
        <button type="submit" class="button button-primary" disabled={result === null || !isLink}>
          Go on
        </button>
      </form>
    </section>
  );
}

interface SecondProps extends ResolveProps {
  readonly result: Result;
  readonly evidence: string;
  readonly onBack: () => void;
}

function Second({ market, result, evidence, onDone, onBack }: SecondProps) {
  const action = useAction();
  const path = `/admin/markets/${market.id}`;
  const outcomeIndex = result === 'void' ? '' : result;
  const effect = useLoaded(() => get<Effect>(`${path}/resolution`, { outcomeIndex }), [result]);
  const name = result === 'void' ? 'void' : (market.outcomes[result === '0' ? 0 : 1]?.name ?? '');
  const resolve = async (): Promise<void> => {
    const body = { outcomeIndex: Number(result), confirm: name, ...(evidence === '' ? {} : { evidence }) };
    const what = () =>
      result === 'void'
        ? act('POST', `${path}/void`, undefined, market.question)
        : act('POST', `${path}/resolve`, body, market.question);
    if (await action.run(what)) onDone();
  };
  return (
    <section class="panel" aria-labelledby="resolve">
      <h2 id="resolve">Resolve, step 2 of 2</h2>
      <p>{market.question}</p>
      <Problem text={effect.error} />
      {effect.value && (
        <p class="summary" data-testid="resolution">
          {result === 'void' ? 'Voided' : `Result: ${name}`}. {effect.value.holders} holders,{' '}
          {dollars(microOf(effect.value.payout))} to {effect.value.winners} of them, {effect.value.orders}{' '}
          orders cancelled.
        </p>
      )}
      {evidence !== '' && <p>Evidence: {evidence}</p>}
      <p>
        Holders are paid after the delay that the exchange is set to; until then the list of markets takes the
        result back. Without a delay it cannot be undone.
      </p>
      <Confirmed word={name} label="Resolve the market" action={action} onConfirm={() => void resolve()} />
      <button type="button" class="button button-quiet" onClick={onBack}>
        Back to step 1
      </button>
    </section>
  );
}
