import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../support/processes';
import { BATCH, type GasRow, gasRows } from './gas';
import { COLLATERAL, startWorld, type World } from './world';

/**
 * Measures the table of docs/run/contracts.md. `WRITE_GAS=1` writes it; else the figures must be within a tenth of the page's.
 * The question's condition is one whose token ids the framework computes at the first try; its address and the collateral's
 * are the same in each run.
 */
const QUESTION = 'gas 0';
const PAGE = path.join(ROOT, 'docs/run/contracts.md');
const TABLE = /^\| match \| alone \|[^\n]*\n\|[-|]+\|\n(?:\|.*\n)+/m;
const WITHIN = 0.1;

let world: World;
let measured: GasRow[];
beforeAll(async () => {
  world = await startWorld();
  measured = await gasRows(world, await world.openMarket(QUESTION));
});
afterAll(() => world?.stop());

const figure = (gas: number | null): string => (gas === null ? '' : gas.toLocaleString('en-US'));
const tableOf = (rows: readonly GasRow[]): string =>
  [
    `| match | alone | in a batch of ${BATCH} | planned in a batch |`,
    '|---|---|---|---|',
    ...rows.map(
      ({ name, alone, inBatch, planned }) =>
        `| ${name} | ${figure(alone)} | ${figure(inBatch)} | ${figure(planned)} |`,
    ),
    '',
  ].join('\n');

test('the gas of a match is within a tenth of what docs/run/contracts.md says', () => {
  if (process.env.WRITE_GAS === '1')
    writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(TABLE, tableOf(measured)));
  const [table = ''] = TABLE.exec(readFileSync(PAGE, 'utf8')) ?? [];
  expect(table).not.toBe('');
  const kept = table.trimEnd().split('\n').slice(2);
  const cells = kept.map((row) => row.split('|').map((cell) => cell.trim()));
  expect(cells.map(([, name]) => name)).toEqual(measured.map(({ name }) => name));
  for (const [at, { name, alone, inBatch }] of measured.entries()) {
    for (const [gas, cell = ''] of [
      [alone, cells[at]?.[2]],
      [inBatch, cells[at]?.[3]],
    ] as const) {
      const told = Number(cell.replaceAll(',', ''));
      expect([name, Math.abs((gas ?? 0) - told) <= WITHIN * told]).toEqual([name, true]);
    }
  }
});

test('in a batch a match needs at most a tenth more gas than was planned', () => {
  const planned = measured.filter((row) => row.planned !== null);
  expect(planned).toHaveLength(5);
  const over = planned.filter((row) => (row.inBatch ?? 0) > (1 + WITHIN) * (row.planned ?? 0));
  expect(over).toEqual([]);
});

test('the contract keeps nothing of all these matches', async () => {
  expect(await world.balance(world.exchange, COLLATERAL)).toBe(0n);
});
