import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BUGS as OF_CHAIN } from './extensions/chain/planted';
import { BUGS as OF_CHAIN_FUNDS } from './extensions/chain/store/planted';
import { JOURNAL } from './extensions/portfolio/planted';
import { TRANSFERS } from './extensions/shards/store/planted';
import { BUGS as OF_PROCESSES } from './faults/planted';
import { findInModule } from './faults/planted-program';
import { FORGETTING } from './store/fuzzing/planted-forgetting';
import { patchOf, REPLACED } from './store/fuzzing/planted-replacing';
import { ENDING, ONE_MATCH, TRADING } from './store/fuzzing/planted-trading';
import { findPlaces } from './store/fuzzing/scripts';
import { ROOT } from './support/processes';

/** `npm run mutants` plants each of these bugs and catches it. Here each only finds its place, so that a source that moves fails at once. */
test.each([...TRADING, ...ONE_MATCH, ...REPLACED, ...ENDING].map((bug) => [bug[0], patchOf(bug)] as const))(
  'in trading: %s',
  (_, patch) => findPlaces([patch]),
);

test.each(JOURNAL)('in the journal: %s', (_, patch) => findPlaces([patch]));

test.each(FORGETTING)('in what leaves Redis: %s', (_, { patches = [] }) => findPlaces(patches));

test.each(Object.entries(TRANSFERS))('in transfers between shards: %s', (_, patches) => findPlaces(patches));

test.each(OF_CHAIN_FUNDS)('in funds on a chain: %s', (_, { patches = [] }) => findPlaces(patches, 'chain'));

test.each(Object.entries({ ...OF_PROCESSES, ...OF_CHAIN }))('in the processes: %s', (_, bug) => {
  findPlaces(bug.lua ?? []);
  findPlaces(bug.chainLua ?? [], 'chain');
  for (const patch of bug.modules ?? []) findInModule(patch);
});

test.each(
  Object.entries(OF_CHAIN).flatMap(([name, { contract }]) => (contract ? [[name, contract] as const] : [])),
)('in the contract: %s', (_, { from }) => {
  expect(readFileSync(path.join(ROOT, 'contracts/MarketExchange.sol'), 'utf8')).toContain(from);
});
