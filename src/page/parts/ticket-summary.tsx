import type { ComponentChildren } from 'preact';
import { type Estimate, estimate, type Inputs, type Standing } from '../order-draft';
import { cents, centsOf, dollars, MICRO_ONE, shares } from '../units';

const NAMES = ['Yes', 'No'] as const;
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
  return (
    <dl class="facts summary">
      <Line label="Average price">{found ? averageWords(found, inputs) : NONE}</Line>
      {inputs.side === 'BUY' ? (
        <BuyLines inputs={inputs} found={found} />
      ) : (
        <SellLines inputs={inputs} found={found} />
      )}
    </dl>
  );
};

/** "61.5¢ for 40, 60 rest". */
function averageWords({ limitPips, lots, preview }: Estimate, { orderType }: Inputs): string {
  const { filledLots, restingLots, averageMicro, wouldTrade } = preview;
  if (orderType === 'POST_ONLY' && wouldTrade) return 'would trade at once';
  if (averageMicro === null)
    return restingLots > 0 ? `rests at ${cents(limitPips)}` : 'nothing within the price';
  const average = centsOf((averageMicro / MICRO_ONE).toFixed(6));
  if (filledLots === lots) return average;
  if (restingLots > 0) return `${average} for ${shares(filledLots)}, ${shares(restingLots)} rest`;
  return orderType === 'FOK'
    ? `only ${shares(filledLots)} available`
    : `${average} for ${shares(filledLots)} available`;
}

interface Lines {
  readonly inputs: Inputs;
  readonly found: Estimate | null;
}

const BuyLines = ({ inputs, found }: Lines) => {
  const preview = found?.preview;
  const gain = preview ? preview.payoutMicro - preview.costMicro : 0;
  return (
    <>
      <Line label="Cost" testId="ticket-cost" strong>
        {preview ? dollars(preview.costMicro) : NONE}
      </Line>
      <Line label={`Payout if ${NAMES[inputs.outcome]}`} testId="ticket-payout" strong>
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

const SellLines = ({ inputs, found }: Lines) => {
  const preview = found?.preview;
  const lots = preview ? preview.filledLots + preview.restingLots : 0;
  return (
    <>
      <Line label="You give" testId="ticket-cost" strong>
        {preview ? `${shares(lots)} ${NAMES[inputs.outcome]}` : NONE}
      </Line>
      <Line label="You receive" testId="ticket-payout" strong>
        {preview ? dollars(preview.payoutMicro) : NONE}
      </Line>
    </>
  );
};
