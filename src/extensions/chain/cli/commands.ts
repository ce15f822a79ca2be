import type { Command as Commander } from 'commander';
import { SURE, wholeNumber } from '../../../cli/arguments';
import { forGood } from '../../../cli/markets';
import type { Choose } from '../../../cli/store';
import { adoptLane, chainLanes, chainStatus, drainChain, pauseLanes, resumeLanes } from './chain';
import { failSettlement } from './fail';
import { rejoinChain } from './rejoin';

/** The commands about funds on a chain. */
export function addChain(program: Commander, choose: Choose): void {
  const chain = program
    .command('chain')
    .description('funds on a chain: settlement, lanes, and all that waits');
  chain
    .command('status')
    .description('show how far the books follow the chain, and what waits for it')
    .action(() => choose(chainStatus));
  chain
    .command('lanes')
    .description('list the addresses that settle, and their transactions that are not final')
    .action(() => choose(chainLanes));
  chain
    .command('pause [lane]')
    .description('send no new transactions from a lane, or from all; those that were sent go on')
    .action((lane: string | undefined) => choose(pauseLanes(lane)));
  chain
    .command('resume [lane]')
    .description('let a paused lane, or all, send again')
    .action((lane: string | undefined) => choose(resumeLanes(lane)));
  chain
    .command('drain')
    .description('accept no more orders (CANCEL_ONLY) and wait until everything is settled')
    .option('--timeout <seconds>', 'how long to wait, 300 when left out', wholeNumber, 300)
    .action(({ timeout }: { timeout: number }) => choose(drainChain(timeout)));
  chain
    .command('fail <settlement>')
    .description('end a settlement that the contract would refuse, and give its wallets back what it took')
    .option('--yes', SURE)
    .action((id: string, { yes = false }: { yes?: boolean }) =>
      choose(forGood(`end the settlement ${id} as FAILED`, yes, failSettlement(id))),
    );
  chain
    .command('adopt <lane>')
    .description('let a lane that is AHEAD continue at the nonce of the chain; know first why it was')
    .option('--yes', SURE)
    .action((lane: string, { yes = false }: { yes?: boolean }) =>
      choose(forGood(`let ${lane} continue at the nonce of the chain`, yes, adoptLane(lane))),
    );
  chain
    .command('rejoin')
    .description('follow the chain again after it replaced a final block, while the exchange is HALTED')
    .option('--yes', SURE)
    .action(({ yes = false }: { yes?: boolean }) => choose(rejoinChain(yes)));
}
