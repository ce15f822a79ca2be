import { checksumAddress } from '../auth/address';
import { Refusal } from '../exchange/errors';
import type { Market } from '../exchange/facts';
import type { MarketId, MarketStatus, MarketTerms, OutcomeIndex } from '../exchange/market';
import type { Mode } from '../exchange/status';
import { readMode } from '../store/health/health';
import { partAt } from '../store/lists/list';
import { previewEnding } from '../store/markets/ending-preview';
import { readResolveDelay } from '../store/markets/resolve-delay';
import { presentOwnMarket } from '../wire/answers/market';
import { PATHS } from '../wire/paths';
import {
  checkConfirm,
  modeShape,
  newMarketOf,
  newMarketShape,
  resolveShape,
} from '../wire/requests/operator';
import { afterwards, lookOrRepeat, recorded } from './action';
import { type CliStore, type Command, EXIT, type Run, type Speaker } from './store';
import { table } from './table';

type Presented = ReturnType<typeof presentOwnMarket>;

/** Markets read at a time. */
const AT_ONCE = 20;

const line = ({ id, status, question }: Presented, { paint }: Speaker): string =>
  `${paint('dim', id)}  ${status}  ${question}`;

async function presented({ reads, placement }: CliStore, id: MarketId): Promise<Presented> {
  return presentOwnMarket(await reads.view(id), await placement.shownOf(id));
}

const idOf = async (store: CliStore, name: string): Promise<MarketId> =>
  (await marketOf(store, name)).terms.id;

/** Finds a market by id, slug or condition id. Throws MARKET_NOT_FOUND. */
async function marketOf({ reads }: CliStore, name: string): Promise<Market> {
  const market = await reads.market(name);
  if (!market)
    throw new Refusal(
      'MARKET_NOT_FOUND',
      `there is no market ${JSON.stringify(name)}; see: exchange markets list`,
    );
  return market;
}

/** The body of POST /admin/markets, and the checks of it. */
export const createMarket =
  (body: Readonly<Record<string, unknown>>): Command =>
  async ({ store, ...speaker }) => {
    const words = newMarketShape.parse(body);
    const doing = {
      action: `POST ${PATHS.adminMarkets}`,
      path: PATHS.adminMarkets,
      body: words,
      unsure: 'see "markets list" before you repeat the command',
    };
    const { terms } = await recorded(store, doing, () =>
      store.markets.create(newMarketOf(words, checksumAddress)),
    );
    const market = await afterwards(presented(store, terms.id));
    await speaker.say(market, [line(market, speaker)]);
    return EXIT.done;
  };

export const listMarkets =
  (status: MarketStatus | undefined): Command =>
  async ({ store, say, paint }) => {
    const all: Presented[] = [];
    const stored = store.partitions.map(({ keys }) => store.redis.hkeys(keys.markets));
    const ids = (await Promise.all(stored)).flat();
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      all.push(...(await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => presented(store, id)))));
    }
    const rows = all
      .filter((market) => !status || market.status === status)
      .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    const isSpread = store.partitions.length > 1;
    await say(
      rows,
      table([
        [
          ...(isSpread ? ['SHARD'] : []),
          'ID',
          'STATUS',
          'PRICE',
          'BID',
          'ASK',
          'VOLUME',
          'CLOSES',
          'QUESTION',
        ],
        ...rows.map((market) => [
          ...(isSpread ? [String(market.shard)] : []),
          ...[market.id, market.status, market.outcomes[0]?.price ?? '-'],
          ...[market.bestBid ?? '-', market.bestAsk ?? '-', market.volume],
          ...[market.closesAt ?? '-', market.question],
        ]),
      ]).map((text, row) =>
        text.replace(rows[row - 1]?.id ?? text, (id) => (row === 0 ? id : paint('dim', id))),
      ),
    );
    return EXIT.done;
  };

export const showMarket =
  (name: string): Command =>
  async ({ store, say }) => {
    const market = await presented(store, await idOf(store, name));
    const rows = Object.entries(market).map(([member, value]) => [
      member,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    await say(market, table(rows));
    return EXIT.done;
  };

const STEPS = {
  open: PATHS.adminOpen,
  pause: PATHS.adminPause,
  resume: PATHS.adminResume,
  close: PATHS.adminClose,
  unresolve: PATHS.adminUnresolve,
} as const;
export type Step = keyof typeof STEPS;
export const STEP_NAMES = Object.keys(STEPS) as Step[];

export const moveMarket = (step: Step, name: string): Command =>
  change(name, STEPS[step], {}, (markets, id) => markets[step](id));

/** Cannot be undone; so it asks first, unless --yes is given. */
export const forGood =
  (what: string, isSure: boolean, command: Command): Command =>
  async (run) => {
    if (!isSure) await run.confirm(what);
    return command(run);
  };

/** Asks first, unless it is confirmed by --yes or by the name of the outcome. */
export const resolveMarket =
  (
    name: string,
    { outcome, ...sent }: { readonly outcome: string; readonly evidence?: string; readonly confirm?: string },
    isSure: boolean,
  ): Command =>
  async (run) => {
    const market = await marketOf(run.store, name);
    const body = resolveShape.parse({ outcomeIndex: outcomeOf(market.terms, outcome), ...sent });
    const { outcomeIndex, evidence } = body;
    await checkDelay(run.store);
    checkConfirm(market.terms, body);
    if (!isSure && body.confirm === undefined) await confirmEnd(run, 'resolve', market, outcomeIndex);
    const act = (markets: CliStore['markets'], id: MarketId) => markets.resolve(id, outcomeIndex, evidence);
    return change(name, PATHS.adminResolve, body, act)(run);
  };

export const voidMarket =
  (name: string, isSure: boolean): Command =>
  async (run) => {
    const market = await marketOf(run.store, name);
    await checkDelay(run.store);
    if (!isSure) await confirmEnd(run, 'void', market, null);
    return change(name, PATHS.adminVoid, {}, (markets, id) => markets.resolve(id, null))(run);
  };

/** A command with another environment than web would pay holders sooner than operators expect, and nothing takes that back. */
async function checkDelay(store: CliStore): Promise<void> {
  const own = store.config.resolveDelayMs;
  const noted = await readResolveDelay(store);
  if (noted === null || noted === own) return;
  throw new Refusal(
    'INVALID_REQUEST',
    `web pays holders ${noted / 1_000} s after a result, and this command would after ${own / 1_000} s: set RESOLVE_DELAY=${noted / 1_000} for it, too`,
  );
}

const ALIASES: Readonly<Record<string, OutcomeIndex>> = { yes: 0, no: 1, '0': 0, '1': 1 };

/** The names of a market come first, because "Yes" may be its second one. */
function outcomeOf({ outcomeNames }: MarketTerms, text: string): OutcomeIndex {
  const small = text.toLowerCase();
  const named = [0, 1].filter((index) => outcomeNames[index]?.toLowerCase() === small);
  const exact = outcomeNames.indexOf(text);
  // Two names may differ in their capitals only.
  const index = exact >= 0 || named.length > 1 ? exact : (named[0] ?? ALIASES[small]);
  if (index === 0 || index === 1) return index;
  const names = outcomeNames.map((name) => JSON.stringify(name)).join(' or ');
  throw new Refusal('INVALID_REQUEST', `--outcome must be ${names}, not ${JSON.stringify(text)}`);
}

/** Names what would be wrong in the wrong market, and until when the result can be taken back. */
async function confirmEnd(
  run: Run,
  verb: 'resolve' | 'void',
  { terms: { id, slug, outcomeNames }, texts: { question } }: Market,
  outcome: OutcomeIndex | null,
): Promise<void> {
  const { config, redis, partitions, placement } = run.store;
  const { keys } = partAt(partitions, await placement.partitionOf(id));
  const { holders, winners } = await previewEnding({ redis, keys }, id, outcome);
  const result =
    outcome === null ? 'every token is paid a half' : `${JSON.stringify(outcomeNames[outcome])} has won`;
  const what = `${verb} ${slug}, ${JSON.stringify(question)}: ${result}, which pays ${winners} of ${holders} holders`;
  if (config.resolveDelayMs === 0) return run.confirm(what);
  const until = `${config.resolveDelayMs / 1_000} s later; until then "markets unresolve ${slug}" takes it back`;
  return run.confirm(`${what} ${until}`, false);
}

function change(
  name: string,
  path: string,
  body: unknown,
  act: (markets: CliStore['markets'], id: MarketId) => Promise<void>,
): Command {
  return async ({ store, ...speaker }: Run) => {
    const id = await idOf(store, name);
    const doing = {
      action: `POST ${path}`,
      path: path.replace('{id}', id),
      body,
      unsure: lookOrRepeat(`markets show ${id}`),
    };
    await recorded(store, doing, () => act(store.markets, id));
    const market = await afterwards(presented(store, id));
    await speaker.say(market, [line(market, speaker)]);
    return EXIT.done;
  };
}

/** The body of PUT /admin/mode, and the checks of it; without a mode it shows the current one. */
export const setMode =
  (sent: { readonly mode?: Mode; readonly message?: string }): Command =>
  async ({ store, say }) => {
    const isChange = Object.keys(sent).length > 0;
    if (isChange) {
      const body = modeShape.parse(sent);
      const doing = { action: `PUT ${PATHS.adminMode}`, path: PATHS.adminMode, body };
      await recorded(store, doing, () => store.engine.setMode(body.mode, body.message));
    }
    const reading = readMode(store.redis, store.keys);
    const { mode, message } = await (isChange ? afterwards(reading) : reading);
    await say({ mode, message }, [message === null ? mode : `${mode}  ${message}`]);
    return EXIT.done;
  };
