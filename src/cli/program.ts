import { Argument, Command as Commander, Option } from 'commander';
import { MARKET_STATUSES } from '../exchange/market';
import { MODES, SETTLEMENT_STATUSES } from '../exchange/status';
import { hash, SURE, wholeNumber } from './arguments';
import { doctor, doctorWithoutRedis } from './doctor';
import { inventHistory, rebuildHistory } from './history';
import { acceptLoss } from './loss';
import {
  createMarket,
  forGood,
  listMarkets,
  moveMarket,
  resolveMarket,
  STEP_NAMES,
  type Step,
  setMode,
  showMarket,
  voidMarket,
} from './markets';
import { acknowledge, exportSettlements } from './settlements';
import type { AddCommands, Choose } from './store';

const ABOUT =
  "Operates an exchange. Works on Redis itself, with the scripts and checks that web and worker use: it needs REDIS_URL and the rest of their environment, and no web process. What it changes is written into the operators' log.";

const ENDS = `
Exit codes: 0 done; 1 an audit or doctor that found something, or a repair that is not through; 2 wrong usage; 3 refused by the exchange, or a bad file;
4 Redis did not answer, or something broke; 78 bad configuration.`;

const NAME = 'id, slug or condition id';

/** Calls `choose` with the command and its checked arguments. */
export function createProgram(
  version: string,
  choose: Choose,
  extensions: readonly AddCommands[] = [],
): Commander {
  const program = new Commander('exchange')
    .description(ABOUT)
    .option('--json', 'one JSON document instead of text')
    .version(version, '--version', 'print the version of this program')
    .addHelpText('after', ENDS)
    .exitOverride();
  addMarkets(program, choose);
  addSettlements(program, choose);
  program
    .command('mode')
    .description('show the mode of the exchange, or set it')
    .addArgument(new Argument('[mode]').choices([...MODES]))
    .option('--message <text>', "the operator's message about it, for everybody")
    .action((mode, { message }) =>
      choose(
        setMode({ ...(mode === undefined ? {} : { mode }), ...(message === undefined ? {} : { message }) }),
      ),
    );
  addHistory(program, choose);
  program
    .command('doctor')
    .description('check the settings of Redis and the state of the exchange')
    .action(() => choose(doctor, { anyData: true, unreachable: doctorWithoutRedis }));
  program
    .command('accept-loss')
    .description('go on with what is there after Redis lost its data: web and worker become ready again')
    .option('--yes', SURE)
    .action(({ yes = false }: { yes?: boolean }) =>
      choose(forGood('go on without the data that Redis lost', yes, acceptLoss)),
    );
  for (const add of extensions) add(program, choose);
  return program;
}

function addHistory(program: Commander, choose: Choose): void {
  program
    .command('history')
    .description('the candles that the price charts show')
    .command('rebuild')
    .description('compute the candles again from the matches; safe while the exchange trades')
    .action(() => choose(rebuildHistory));
  program.command('demo-history', { hidden: true }).action(() => choose(inventHistory));
}

const withPlace = (command: Commander): Commander =>
  command
    .option('--event-slug <slug>', 'the event it belongs to')
    .option('--event-title <text>', 'the title of that event')
    .option('--shard <number>', 'the shard that is to have it, from 0', wholeNumber);

/** The options of an event as the member of the request. */
const withEvent = ({ eventSlug: slug, eventTitle: title, ...options }: Record<string, unknown>) =>
  slug || title ? { ...options, event: { slug, title } } : options;

function addMarkets(program: Commander, choose: Choose): void {
  const markets = program.command('markets').description('the life of markets');
  withPlace(markets.command('create <question>'))
    .description('create a market; options that are left out have the defaults of POST /admin/markets')
    .option('--slug <slug>')
    .option('--description <text>')
    .option('--category <slug>')
    .option('--tags <slugs...>')
    .option('--outcomes <names...>', 'two names, what Yes and No are called')
    .option('--tick-size <price>')
    .option('--lot-size <size>')
    .option('--min-order-size <size>', 'one share, in whole lots, when left out')
    .option('--fee-rate-bps <bps>', 'a whole number', wholeNumber)
    .option('--closes-at <moment>', 'ISO 8601, with its zone')
    .option('--question-id <hash>')
    .option('--oracle <address>')
    .option('--resolution-source <url>', 'https: the page that decides')
    .option('--draft', 'not open yet')
    .action((question: string, options: Record<string, unknown>) =>
      choose(createMarket({ question, ...withEvent(options) })),
    );
  markets
    .command('list')
    .description('list every market, drafts too, newest first')
    .addOption(new Option('--status <status>').choices([...MARKET_STATUSES]))
    .action(({ status }) => choose(listMarkets(status)));
  markets
    .command('show <market>')
    .description(`all of one market (${NAME})`)
    .action((name: string) => choose(showMarket(name)));
  for (const step of STEP_NAMES.filter((name) => name !== 'close')) {
    markets
      .command(`${step} <market>`)
      .description(WORDS[step])
      .action((name: string) => choose(moveMarket(step, name)));
  }
  markets
    .command('close <market>')
    .description(WORDS.close)
    .option('--yes', SURE)
    .action((name: string, { yes = false }: { yes?: boolean }) =>
      choose(forGood(`close ${name}: what rests is cancelled`, yes, moveMarket('close', name))),
    );
  markets
    .command('resolve <market>')
    .description(
      'resolve a market: after RESOLVE_DELAY its resting orders are cancelled and every holder is paid',
    )
    .requiredOption('--outcome <name>', 'the name of the outcome that won')
    .option('--evidence <url>', 'https: the page that shows it')
    .option('--confirm <name>', 'the name of the outcome that won, in place of --yes')
    .option('--yes', SURE)
    .action((name: string, { yes = false, ...sent }: Resolving) => choose(resolveMarket(name, sent, yes)));
  markets
    .command('void <market>')
    .description('end a market without a winner and pay a half for each token, after RESOLVE_DELAY')
    .option('--yes', SURE)
    .action((name: string, { yes = false }: { yes?: boolean }) => choose(voidMarket(name, yes)));
}

interface Resolving {
  readonly outcome: string;
  readonly evidence?: string;
  readonly confirm?: string;
  readonly yes?: boolean;
}

const WORDS: Readonly<Record<Step, string>> = {
  open: 'open a draft',
  pause: 'take cancels only',
  resume: 'open a paused market again',
  close: 'take no more orders and cancel what rests; for good',
  unresolve: 'take a result back before its holders are paid',
};

function addSettlements(program: Commander, choose: Choose): void {
  const settlements = program.command('settlements').description('matches to settle on chain');
  settlements
    .command('export')
    .description('write a line of JSON for each settlement, oldest first')
    .addOption(new Option('--status <status>').choices([...SETTLEMENT_STATUSES]))
    .option('--market <market>', NAME)
    .option('--calldata', 'with the address and the data of the transaction that calls matchOrders')
    .option('--output <file>', 'into a new file instead of standard output')
    .action(({ status, market, calldata = false, output }) =>
      choose(exportSettlements({ status, market, calldata, output })),
    );
  settlements
    .command('acknowledge <settlement>')
    .description('record that a settlement was mined: CONFIRMED, with the hash of its transaction')
    .addOption(new Option('--tx <hash>', 'of the transaction').argParser(hash).makeOptionMandatory())
    .option('--yes', SURE)
    .action((id: string, { tx, yes = false }: { tx: string; yes?: boolean }) =>
      choose(forGood(`record that transaction ${tx} settled ${id}`, yes, acknowledge(id, tx))),
    );
}
