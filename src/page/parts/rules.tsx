import type { Market } from 'ctf-exchange-client';
import { tell } from '../toasts';
import { cents, counted, lotsOf, pipsOf } from '../units';

const LINK = /(https:\/\/[^\s<>"')\]]+[^\s<>"')\].,;:!?])/g;

const Out = ({ url }: { readonly url: string }) => (
  <a href={url} rel="noopener noreferrer nofollow" target="_blank">
    {url}
  </a>
);

/** Plain text with its paragraphs and lines, and links to https only. */
export const Prose = ({ text }: { readonly text: string }) => (
  <>
    {text.split(/\n{2,}/).map((paragraph, at) => (
      <p key={at} class="prose" dir="auto">
        {paragraph.split(LINK).map((piece, i) => (i % 2 === 1 ? <Out key={i} url={piece} /> : piece))}
      </p>
    ))}
  </>
);

async function copyId(id: string): Promise<void> {
  await navigator.clipboard.writeText(id).then(
    () => tell('The condition id is copied.'),
    () => tell(`Your browser does not let this page copy: ${id}`),
  );
}

/** The rules for the result of the question, and the terms of its orders. */
export const Rules = ({ market }: { readonly market: Market }) => {
  const { description, resolutionSource, resolution, tickSize, minOrderSize, feeRateBps, conditionId } =
    market;
  return (
    <div class="rules" data-testid="rules">
      <Prose
        text={description === '' ? 'Its operator has not described how this market is decided.' : description}
      />
      <dl class="facts">
        {resolutionSource !== null && (
          <div>
            <dt>Decided by</dt>
            <dd>
              <Out url={resolutionSource} />
            </dd>
          </div>
        )}
        {resolution?.evidence != null && (
          <div>
            <dt>Evidence</dt>
            <dd>
              <Out url={resolution.evidence} />
            </dd>
          </div>
        )}
        <div>
          <dt>Steps of the price</dt>
          <dd>{cents(pipsOf(tickSize))}</dd>
        </div>
        <div>
          <dt>Smallest order</dt>
          <dd>{counted(lotsOf(minOrderSize), 'share')}</dd>
        </div>
        <div>
          <dt>Fee</dt>
          <dd>{feeRateBps === 0 ? 'none' : `${feeRateBps / 100} % of the cheaper side`}</dd>
        </div>
        <div>
          <dt>Condition id</dt>
          <dd>
            <button type="button" class="link" title={conditionId} onClick={() => void copyId(conditionId)}>
              {conditionId.slice(0, 10)}… copy
            </button>
          </dd>
        </div>
      </dl>
      <p class="muted">
        A share pays $1 if its outcome wins and nothing if it loses. Prices are in cents and can be read as
        chances.
      </p>
    </div>
  );
};
