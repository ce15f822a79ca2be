import { Refusal } from '../../../src/exchange/errors';
import type { Answer } from '../../model/exchange';
import { check, extraOf } from './compare';
import type { SideBySide } from './side-by-side';

/** The engine's answer or refusal, beside the model's. */
export async function both<T>(
  stage: SideBySide,
  act: () => Promise<T>,
  ask: () => Answer,
): Promise<{ got: T | null; expected: Answer }> {
  let got: T | null = null;
  let refusal: Refusal | null = null;
  try {
    got = await act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refusal = error;
  }
  const expected = ask();
  stage.count(expected.code);
  const refused = 'detail' in expected && expected.code !== 'OK';
  check('refusal', refused ? expected.code : 'none', refusal?.code ?? 'none');
  if (!refused) return { got, expected };
  const extra = JSON.stringify(extraOf(expected.code, expected.detail));
  check(`extra of ${expected.code}`, extra, JSON.stringify(refusal?.extra));
  if (expected.code === 'MARKET_NOT_OPEN') {
    check('status in a refusal', `the market is ${expected.detail[0]}`, refusal?.message);
  }
  return { got, expected };
}
