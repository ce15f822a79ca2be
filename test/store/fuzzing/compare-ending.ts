import { MODES } from '../../../src/exchange/status';
import type { Model } from '../../model/exchange';
import { check } from './check';
import type { StoredMarket, StoredMoney } from './stored';

const OUTCOMES = ['0', '1', 'null'];

/** Compares the result of a market, the progress and amounts of its payouts, and the mode. */
export function checkEnding(model: Model, id: string, stored: StoredMarket): void {
  const { ended } = model.market(id);
  const field = (name: string): string => stored.fields.get(name) ?? '';
  check('mode of a market', model.mode(), MODES[Number(field('md'))]);
  const told = [OUTCOMES[Number(field('ro'))], field('rs'), field('rp'), field('ra'), field('rd') !== '0'];
  const known = ended && [
    `${ended.outcome}`,
    `${ended.sets}`,
    `${ended.paid}`,
    `${ended.accounts}`,
    ended.done,
  ];
  check('how it ended', String(known), String(field('ro') === '' ? null : told));
  const text = (records: ReadonlyMap<string, readonly bigint[]>): string =>
    String([...records].map(([who, amounts]) => `${who} ${amounts.join(' ')}`).sort());
  check('who was paid what', text(ended?.records ?? new Map()), text(stored.paid));
}

export function checkToDo(model: Model, stored: StoredMoney): void {
  check('markets to be wound up', String(model.ending()), String(stored.ending));
}

/** From stored data alone: the outstanding tokens equal the held ones. */
export function checkSupply({ tokens, fields, paid }: StoredMarket): void {
  const sets = BigInt(fields.get('oi') ?? 0);
  let [yes, no] = [0n, 0n];
  for (const [a = 0n, b = 0n, c = 0n, d = 0n] of tokens.values()) [yes, no] = [yes + a + b, no + c + d];
  const outcome = fields.get('ro');
  if (outcome !== '1') checkHeld('Yes', outcome, sets, yes);
  if (outcome !== '0') checkHeld('No', outcome, sets, no);
  if (outcome === '2') {
    // Collateral for every half, and the unpaid halves: at most one for each account.
    const halves = sets * 2n - yes - no;
    check('conservation of halves', true, halves >= 0n && halves <= BigInt(paid.size));
  }
  if (outcome === undefined) return;
  const given = [...paid.values()].reduce((total, [, , worth = 0n]) => total + worth, 0n);
  const rest = fields.get('rd') === '0' ? 0n : BigInt(fields.get('rp') ?? 0) - given;
  check('payouts and what waits are the sets there were', fields.get('rs'), String(given + rest + sets));
  check('what is left of halves', true, rest >= 0n && rest <= BigInt(paid.size));
}

function checkHeld(name: string, outcome: string | undefined, sets: bigint, held: bigint): void {
  if (outcome !== '2') check(`conservation of ${name} tokens`, sets, held);
}
