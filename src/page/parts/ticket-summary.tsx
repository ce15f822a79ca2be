import type { ComponentChildren } from 'preact';
import { type Estimate, estimate, facing, type Inputs, type Standing } from '../order-draft';
import { nameOf } from '../outcome-names';
import { cents, centsOf, dollars, fixed, MICRO_ONE, shares } from '../units';

const NONE = '–';

interface LineProps {
  readonly label: string;
  readonly testId?: string;
  readonly strong?: boolean;
  readonly children: ComponentChildren;
}

const Line = ({ label, testId, strong = false, children }: LineProps) => (
  <div class={strong ? 'strong' : undefined}>
    <dt>{label}</dt>
    <dd data-testid={testId}>{children}</dd>
  </div>
);

/** The effect of the order on the current book. */
export const Summary = ({
  inputs,
  standing,
}: {
  readonly inputs: Inputs;
  readonly standing: Standing | null;
}) => {
  const found = standing && estimate(inputs, standing);
  const name = nameOf(standing?.market, inputs.outcome);
  const rests = found !== null && found.preview.averageMicro === null && found.preview.restingLots > 0;
  const moved = found && standing ? impactWords(found, inputs, standing) : null;
  return (
    <dl class="facts summary">
      <Line label={rests ? 'Waits in the book' : 'Average price'}>
        {found ? averageWords(found, inputs) : NONE}
      </Line>
      {moved !== null && <Line label="Moves the price">{moved}</Line>}
      {found !== null && found.preview.feeMicro > 0 && (
        <Line label="Fee">{feeWords(found, inputs, name)}</Line>
      )}
      {inputs.side === 'BUY' ? (
        <BuyLines name={name} found={found} />
      ) : (
        <SellLines name={name} found={found} />
      )}
    </dl>
  );
};

/** "61.5¢ for 40, 60 rest". */
function averageWords({ limitPips, lots, preview }: Estimate, { orderType }: Inputs): string {
  const { filledLots, restingLots, averageMicro, wouldTrade } = preview;
  if (orderType === 'POST_ONLY' && wouldTrade) return 'would trade at once';
  if (averageMicro === null) return restingLots > 0 ? `at ${cents(limitPips)}` : 'nothing within the price';
  const average = centsOf((averageMicro / MICRO_ONE).toFixed(6));
  if (filledLots === lots) return average;
  if (restingLots > 0) return `${average} for ${shares(filledLots)}, ${shares(restingLots)} rest`;
  return orderType === 'FOK'
    ? `only ${shares(filledLots)} available`
    : `${average} for ${shares(filledLots)} available`;
}

/** "28¢ → 29¢": from the best price to the last one it reaches. */
function impactWords(
  { preview: { worstPips } }: Estimate,
  { side }: Inputs,
  { book }: Standing,
): string | null {
  const best = facing(book, side)[0];
  if (!best || worstPips === null || worstPips === best.pips) return null;
  return `${cents(best.pips)} → ${cents(worstPips)}`;
}

/** A buyer pays in shares, a seller in money. */
const feeWords = ({ preview: { feeMicro } }: Estimate, { side }: Inputs, name: string): string =>
  side === 'SELL' ? dollars(feeMicro) : `${fixed(feeMicro / MICRO_ONE, 2)} ${name}`;

interface Lines {
  readonly name: string;
  readonly found: Estimate | null;
}

const BuyLines = ({ name, found }: Lines) => {
  const preview = found?.preview;
  const gain = preview ? preview.payoutMicro - preview.costMicro : 0;
  return (
    <>
      <Line label="Cost" testId="ticket-cost" strong>
        {preview ? dollars(preview.costMicro) : NONE}
      </Line>
      <Line label={`To win if ${name}`} testId="ticket-payout" strong>
        {preview ? dollars(preview.payoutMicro) : NONE}
        {preview && preview.costMicro > 0 && (
          <span class={gain >= 0 ? 'gain up' : 'gain down'}>
            {gain >= 0 ? '+' : ''}
            {Math.round((100 * gain) / preview.costMicro)}%
          </span>
        )}
      </Line>
    </>
  );
};

const SellLines = ({ name, found }: Lines) => {
  const preview = found?.preview;
  const lots = preview ? preview.filledLots + preview.restingLots : 0;
  return (
    <>
      <Line label="You give" testId="ticket-cost" strong>
        {preview ? `${shares(lots)} ${name}` : NONE}
      </Line>
      <Line label="You receive" testId="ticket-payout" strong>
        {preview ? dollars(preview.payoutMicro) : NONE}
      </Line>
    </>
  );
};
