import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Wallet } from 'ethers';
import { startAnvil } from '../test/chain/anvil';
import { asks } from '../test/chain/proxy';
import { CODE } from '../test/chain/stories';
import { median, quantile, round } from './figures';
import { atLeast, atMost, type Line, lineOf } from './line';
import { type Load, openLoad, requestBytes } from './load';
import { createSigner, type Signer } from './signer';
import { cpuMicros, FASTEST, type Side, startWeb, stopSides } from './web-process';

/**
 * Orders of keys while others send orders of contract wallets whose code burns all its gas, and while the same senders send as
 * many wrong signatures of keys; and the orders of one honest contract wallet at an address of its own. Limits are on, and
 * web, Redis, the node and all senders share the machine.
 */
export interface ContractWalletsRow {
  readonly round: number;
  readonly beside: Beside;
  /** Of the orders of keys. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of a core. */
  readonly webShare: number;
  /** Answers to the other senders, and those among them that say UNAVAILABLE or RATE_LIMITED. */
  readonly answersPerSecond: number;
  readonly unavailablePerSecond: number;
  readonly limitedPerSecond: number;
  /** Orders of the honest contract wallet that were booked. */
  readonly honestPerSecond: number;
}

type Beside = (typeof PHASES)[number];

const KEYS_PER_SECOND = 100;
const KEY_LINES = 32;
const HONEST_LINES = 4;
/** By address: four senders as a hostile client may have, and as many as fill every queue. */
const SENDERS = { few: 4, many: 32 } as const;
const ADDRESSES = ['127.0.0.11', '127.0.0.12', '127.0.0.13', '127.0.0.14'];
const [KEYS_AT, HONEST_AT] = ['127.0.0.21', '127.0.0.31'];
const WARM_MS = 2_000;
const MEASURED_MS = 5_000;
/** Meanwhile the addresses get part of their allowance back. */
const REST_MS = 1_500;
const ROUNDS = { short: 2, full: 5 };
const CHAIN_ID = 97;
const PHASES = ['nobody', 'honest', 'burners', 'keys', 'crowd', 'crowd of keys', 'nobody again'] as const;

/** `redisUrl` is a separate Redis. The number of rounds bounds the run. */
export async function benchContractWallets(
  redisUrl: string,
  full: boolean,
  emit: (row: ContractWalletsRow) => void,
): Promise<void> {
  const chain = await startAnvil(CHAIN_ID);
  const sides: Side[] = [];
  try {
    const quiet = await startWeb(FASTEST, redisUrl);
    sides.push(quiet);
    const nodes = { CHAIN_RPC_URL: `${chain.url},${chain.url}/?again`, RATE_LIMIT: 'on' };
    const web = await startWeb(FASTEST, redisUrl, undefined, undefined, nodes);
    sides.push(web);
    const phase = await openStreet(web, await createSigner(quiet), chain.url);
    await phase(0, 'nobody');
    for (let n = 1; n <= ROUNDS[full ? 'full' : 'short']; n++) {
      let perSecond = 0;
      for (const beside of PHASES) {
        const row = await phase(n, beside, perSecond);
        if (beside === 'burners') perSecond = row.answersPerSecond;
        emit(row);
        await wait(REST_MS);
      }
    }
  } finally {
    stopSides(sides);
    await chain.stop();
  }
}

/** All senders, each at its address. */
async function openStreet(web: Side, signer: Signer, nodeUrl: string) {
  const burning = await contractOrders(signer, nodeUrl, CODE.burnsAllGas);
  const accepting = await contractOrders(signer, nodeUrl, CODE.acceptsSignatures);
  const wrong = changed(signer, {});
  const submission = () => {
    const { path, body } = signer.sign();
    return requestBytes(path, body);
  };

  /** Runs all senders until the phase is over, and measures after a while. Connections that were quiet would be closed. */
  async function phase(number: number, beside: Beside, perSecond = 0): Promise<ContractWalletsRow> {
    const open = (lines: number, at: string): Promise<Load> => openLoad(web.port, lines, at);
    const [keys, honest] = [await open(KEY_LINES, KEYS_AT), await open(HONEST_LINES, HONEST_AT)];
    const senders = beside === 'crowd' || beside === 'crowd of keys' ? SENDERS.many : SENDERS.few;
    const hostile = await Promise.all(ADDRESSES.map((address) => open(senders, address)));
    const endsAt = performance.now() + WARM_MS + MEASURED_MS;
    const isMeasured = (): boolean => performance.now() > endsAt - MEASURED_MS;
    const others = { answers: 0, unavailable: 0, limited: 0 };
    let booked = 0;
    const tookMs: number[] = [];
    const until = (next: () => Buffer) => () => (performance.now() < endsAt ? next() : null);
    const note = (status: number): void => {
      if (!isMeasured() || performance.now() > endsAt) return;
      others.answers++;
      if (status === 503) others.unavailable++;
      if (status === 429) others.limited++;
      if (status === 200) throw new Error('an order that nobody signed was booked');
    };
    const running: Promise<void>[] = [];
    const [isBurning, isFlood] = [beside === 'burners' || beside === 'crowd', beside === 'crowd of keys'];
    if (isBurning || isFlood) {
      const next = until(isBurning ? burning : wrong);
      running.push(...hostile.map((load) => load.flood(next, note)));
    }
    if (beside === 'keys')
      running.push(...hostile.map((load) => load.steady(perSecond / hostile.length, until(wrong), note)));
    if (beside === 'honest' || isBurning) {
      const noteHonest = (status: number): void => void (status === 200 && isMeasured() && booked++);
      running.push(honest.flood(until(accepting), noteHonest));
    }
    const noteKey = (status: number, body: () => string, ms: number): void => {
      if (status !== 200) throw new Error(`the order of a key was answered ${status}: ${body()}`);
      if (isMeasured()) tookMs.push(ms);
    };
    running.push(keys.steady(KEYS_PER_SECOND, until(submission), noteKey));
    await wait(WARM_MS);
    const [cpu0, at0] = [await cpuMicros(web), performance.now()];
    await wait(endsAt - performance.now());
    const [cpu1, at1] = [await cpuMicros(web), performance.now()];
    await Promise.all(running);
    for (const load of [keys, honest, ...hostile]) load.stop();
    const seconds = (at1 - at0) / 1_000;
    const rate = (count: number): number => round(count / seconds, 1);
    return {
      round: number,
      beside,
      p50Ms: round(quantile(tookMs, 0.5)),
      p99Ms: round(quantile(tookMs, 0.99)),
      webShare: round((cpu1 - cpu0) / seconds / 1e6, 3),
      answersPerSecond: rate(others.answers),
      unavailablePerSecond: rate(others.unavailable),
      limitedPerSecond: rate(others.limited),
      honestPerSecond: rate(booked),
    };
  }

  return phase;
}

/** Orders of contract wallets with this code, of which none was sent before. */
async function contractOrders(signer: Signer, nodeUrl: string, code: string): Promise<() => Buffer> {
  const { address } = Wallet.createRandom();
  await asks(nodeUrl, 'anvil_setCode', address, code);
  return changed(signer, { maker: address, signer: address, signatureType: 3 });
}

/** One signed order with other salts, which its signature does not sign. */
function changed(signer: Signer, members: object): () => Buffer {
  const { path, body } = signer.sign();
  const { order } = JSON.parse(body) as { order: object };
  const [head = '', tail = ''] = JSON.stringify({ order: { ...order, ...members, salt: '*' } }).split('*');
  return () => requestBytes(path, `${head}${BigInt(`0x${randomBytes(16).toString('hex')}`)}${tail}`);
}

const suite = 'contract-wallets';
/** Of the p50 of keys, against the mean of the quiet moments before and after. */
const TIMES_MOST = 1.25;
/** Of a core, for all questions of orders. */
const SHARE_MOST = 0.15;
const HONEST_ALONE_LEAST = 20;

export function contractWalletsLines(rows: readonly ContractWalletsRow[]): Line[] {
  const rounds = [...new Set(rows.map((row) => row.round))];
  const of = (beside: Beside, figure: (row: ContractWalletsRow) => number): number[] =>
    rounds.map((n) => {
      const row = rows.find((one) => one.round === n && one.beside === beside);
      return row ? figure(row) : Number.NaN;
    });
  const quiet = (figure: (row: ContractWalletsRow) => number): number[] => {
    const after = of('nobody again', figure);
    return of('nobody', figure).map((before, i) => (before + (after[i] ?? Number.NaN)) / 2);
  };
  const over = (beside: Beside): number => {
    const alone = quiet(({ p50Ms }) => p50Ms);
    return round(median(of(beside, ({ p50Ms }) => p50Ms).map((ms, i) => ms / (alone[i] ?? Number.NaN))));
  };
  const share = (beside: Beside): number => {
    const alone = quiet(({ webShare }) => webShare);
    return round(median(of(beside, ({ webShare }) => webShare).map((all, i) => all - (alone[i] ?? 0))), 3);
  };
  const p50 = (beside: Beside): number => median(of(beside, ({ p50Ms }) => p50Ms));
  const names = { burners: '16 senders of burners', crowd: '128 senders of burners' } as const;
  const others = { burners: 'as many wrong signatures of keys', crowd: '128 senders of these' } as const;
  return [
    lineOf({
      suite,
      what: 'p50 of the orders of keys, again with nobody else',
      figure: p50('nobody again'),
      unit: 'ms',
      baseline: 'with nobody else',
      ratio: round(p50('nobody again') / p50('nobody')),
    }),
    ...(['burners', 'crowd'] as const).flatMap((beside) => {
      const keys = beside === 'crowd' ? 'crowd of keys' : 'keys';
      return [
        lineOf({
          suite,
          what: `the same beside ${names[beside]}`,
          figure: p50(beside),
          unit: 'ms',
          baseline: 'with nobody else',
          ratio: over(beside),
          target: atMost(TIMES_MOST, 'ratio'),
        }),
        lineOf({
          suite,
          what: `beside ${others[beside]}`,
          figure: p50(keys),
          unit: 'ms',
          baseline: 'with nobody else',
          ratio: over(keys),
        }),
        lineOf({
          suite,
          what: `web's CPU for ${names[beside]} and an honest wallet`,
          figure: share(beside),
          unit: 'cores',
          baseline: others[beside],
          ratio: round(share(beside) / share(keys)),
          // A crowd costs what its refused requests cost, whatever they ask for.
          ...(beside === 'burners' ? { target: atMost(SHARE_MOST) } : {}),
        }),
        lineOf({
          suite,
          what: `orders of an honest contract wallet beside ${names[beside]}`,
          unit: 'orders/s',
          figure: median(of(beside, ({ honestPerSecond }) => honestPerSecond)),
        }),
      ];
    }),
    lineOf({
      suite,
      what: 'orders of a contract wallet beside keys only',
      unit: 'orders/s',
      figure: median(of('honest', ({ honestPerSecond }) => honestPerSecond)),
      target: atLeast(HONEST_ALONE_LEAST),
    }),
  ];
}
