import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import type { RunningRedis } from '../../../src/local/redis';
import { contents } from '../../cli/contents';
import { createShell } from '../../cli/shell';
import { type Auditing, openAuditing } from '../../store/audit/auditing';
import { startTestRedis } from '../../support/redis';
import { sleep } from '../../support/waiting';

/** Bad files that are read at the same time. */
const AT_ONCE = 6;
/** Between two orders during a backup. */
const PAUSE_MS = 5;
let [source, target]: RunningRedis[] = [];
let exchange: Auditing;
let folder: string;
let file: string;
const shellAt = (server: RunningRedis | undefined, env = {}) => createShell(server?.url ?? '', env);

beforeAll(async () => {
  [source, target] = [await startTestRedis(), await startTestRedis()];
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-backup-'));
  file = path.join(folder, 'exchange.backup');
  exchange = openAuditing(source.url);
  await exchange.liveMarket(30);
  await exchange.endedMarket(0);
  const market = await exchange.liveMarket(0);
  for (let i = 0; i < 250; i++) {
    await exchange.place(
      market,
      exchange.wallets[i % 8] ?? '',
      0,
      (i % 2) as 0 | 1,
      1_000 + (i % 30) * 100,
      10,
    );
  }
  // A trimmed stream continues after its end; entries are trimmed only after the journal has them.
  await createJournal({ ...exchange, doubts: () => 0 }).catchUp();
  await exchange.redis.xtrim(exchange.keys.outbox, 'MAXLEN', 5);
});
afterAll(async () => {
  exchange?.stop();
  await Promise.all([source?.stop(), target?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Files with a right checksum, made by an attacker. */
function forged(lines: readonly string[]): (readonly [why: RegExp, bytes: Buffer])[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const hash = (key: string, more: object = {}) => ({
    key: base64(key),
    type: 'hash',
    values: [base64('f'), base64('v')],
    ...more,
  });
  const stream = (values: string[], more: object = {}) =>
    hash('{x0}:zz', { type: 'stream', values: values.map(base64), ...more });
  const pieces: readonly (readonly [RegExp, ...unknown[]])[] = [
    [/no key of an exchange/, hash('other-app:balance')],
    [/no key of an exchange/, hash('{s:forged}')],
    [/no key of an exchange/, hash('{jobs}:settlement:wait')],
    [/no key of an exchange/, hash('{x0}:lease')],
    [/is no string/, hash('{x0}:mode')],
    [/no piece/, hash('{x0}:zz', { type: 'module' })],
    [/no piece/, hash('{x0}:zz', { type: 'constructor' })],
    [/no piece/, hash('{x0}:zz', { values: 'x' })],
    [/no piece/, hash('{x0}:zz', { values: ['*', 'x'] })],
    [/no piece/, hash('{x0}:zz', { values: [7, 7] })],
    [/no piece/, hash('{x0}:zz', { ttlMs: -1 })],
    [/no piece/, hash('{x0}:zz', { more: 1 })],
    [/no piece|no object/, []],
    [/half a value/, hash('{x0}:zz', { values: ['YQ=='] })],
    [/half a value/, stream(['1-1', 'e'])],
    [/no number/, hash('{x0}:zz', { type: 'zset' })],
    [/out of its order/, stream(['2-1', 'e', 'v', '1-1', 'e', 'v'])],
    [/out of its order/, stream(['0-0', 'e', 'v'])],
    [/end that does not fit/, stream(['2-1', 'e', 'v'], { lastId: '1-0', added: 1 })],
    [/end that does not fit/, stream(['2-1', 'e', 'v'], { lastId: '2-1', added: 0 })],
    [/end that does not fit/, hash('{x0}:zz', { lastId: '1-0', added: 1 })],
    [/twice, or not in its turn/, hash('{x0}:zz'), hash('{x0}:zz', { type: 'set' })],
    [/twice, or not in its turn/, hash('{x0}:zz'), hash('{x0}:zy')],
    [/longer than/, hash('{x0}:zz', { values: ['A'.repeat(20_000_000), ''] })],
  ];
  return pieces.map(([why, ...more]) => {
    const text = [...lines.slice(0, -2), ...more.map((piece) => JSON.stringify(piece))]
      .map((line) => `${line}\n`)
      .join('');
    const end = JSON.parse(lines.at(-2) ?? '{}').end;
    const added = new Set(more.map((piece) => (piece as { key?: string }).key)).size;
    const sha256 = createHash('sha256').update(text).digest('hex');
    const last = { end: { keys: end.keys + added, pieces: end.pieces + more.length, sha256 } };
    return [why, gzipSync(`${text}${JSON.stringify(last)}\n`)] as const;
  });
}

test('a restored exchange is as it was, passes its audit, and trades on', async () => {
  const [from, to] = [shellAt(source), shellAt(target)];
  const refused = await from.exchange('backup', file);
  expect([refused.code, refused.err]).toEqual([3, expect.stringMatching(/^error: HALTED: /)]);
  expect(readdirSync(folder)).toEqual([]);

  await from.exchange('mode', 'HALTED');
  const before = await contents(source?.url ?? '');
  const copied = await from.json('backup', file);
  expect(copied.keys).toBeGreaterThan(Object.keys(before).length - 1);
  expect((await from.exchange('backup', file)).err).toMatch(/exists/);
  expect((await to.exchange('restore', file, '--verify-only')).out).toMatch(/is whole/);

  const restored = await to.exchange('restore', file, '--yes');
  expect([restored.code, restored.err]).toEqual([0, '']);
  expect(restored.out).toMatch(/keys restored; the exchange is HALTED\nok: \d{3} orders/);
  expect(await contents(target?.url ?? '')).toEqual(before);

  expect((await to.exchange('doctor')).out).toMatch(/^ok +audit +succeeded last: \d{4}-/m);
  expect((await to.exchange('mode')).out).toBe('HALTED\n');
  await to.exchange('mode', 'NORMAL');
  const other = openAuditing(target?.url ?? '');
  try {
    const [market] = [...exchange.known.values()].slice(-1);
    if (!market) throw new Error('no market');
    const { status } = await other.place(market, exchange.wallets[2] ?? '', 0, 0, 9_000, 30);
    expect(status).toBe('FILLED');
    expect((await other.audit()).differences).toEqual([]);
  } finally {
    other.stop();
  }
});

test('an existing exchange or file is replaced only with --force', async () => {
  const to = shellAt(target);
  const before = await contents(target?.url ?? '');
  const full = await to.exchange('restore', file, '--yes');
  expect([full.code, full.err]).toEqual([
    3,
    expect.stringMatching(/holds an exchange already \(\d+ keys\): --force/),
  ]);
  const elsewhere = shellAt(target, { EXCHANGE_ADDRESS: '0x00000000000000000000000000000000000000aa' });
  expect((await elsewhere.exchange('restore', file, '--force', '--yes')).err).toMatch(
    /belongs to another exchange \(/,
  );
  const redis = new Redis(target?.url ?? '');
  await redis.set('{x0}:lease', 'somebody', 'PX', 60_000);
  expect((await to.exchange('restore', file, '--force', '--yes')).err).toMatch(/processes are at work/);
  await redis.del('{x0}:lease');
  redis.disconnect();
  expect(await contents(target?.url ?? '')).toEqual(before);
  expect((await to.exchange('restore', file, '--force', '--yes')).code).toBe(0);
  expect(await contents(target?.url ?? '')).toEqual(await contents(source?.url ?? ''));
});

test('a file that was cut, changed or is no backup is refused before anything changes', async () => {
  const whole = readFileSync(file);
  const text = gunzipSync(whole).toString();
  const lines = text.split('\n');
  const version = gzipSync(text.replace('"version":1', '"version":2'));
  const bad: readonly (readonly [why: RegExp, bytes: Buffer])[] = [
    [/cannot be unpacked/, whole.subarray(0, whole.length - 20)],
    [/cannot be unpacked/, whole.subarray(0, 40)],
    [/cannot be unpacked/, Buffer.from('not a backup')],
    [/ends before its end|cannot be unpacked|empty/, Buffer.alloc(0)],
    [/ends before its end/, gzipSync(lines.slice(0, -2).join('\n'))],
    [/pieces/, gzipSync(lines.filter((_, i) => i !== 4).join('\n'))],
    [/checksum/, gzipSync(text.replace('"createdAt":"2', '"createdAt":"1'))],
    [/something follows/, gzipSync(`${text}{}\n`)],
    [/no backup of an exchange/, gzipSync('{"format":"other"}\n')],
    [/no JSON/, gzipSync('hello\n')],
    [/version 2/, version],
    ...forged(lines),
  ];
  const to = shellAt(target);
  const before = await contents(target?.url ?? '');
  const refuse = async ([why, bytes]: (typeof bad)[number], at: number): Promise<void> => {
    const broken = path.join(folder, `broken-${at}.backup`);
    writeFileSync(broken, bytes);
    const [{ code, err, out }, verified] = await Promise.all([
      to.exchange('restore', broken, '--force', '--yes'),
      to.exchange('restore', broken, '--verify-only'),
    ]);
    expect([code, out, err]).toEqual([3, '', expect.stringMatching(why)]);
    expect(err).toMatch(/^error: INVALID_REQUEST: [^\n]+\n$/);
    expect([verified.code, verified.err]).toEqual([3, expect.stringMatching(why)]);
    rmSync(broken);
  };
  for (let from = 0; from < bad.length; from += AT_ONCE)
    await Promise.all(bad.slice(from, from + AT_ONCE).map((one, i) => refuse(one, from + i)));
  const missing = await to.exchange('restore', path.join(folder, 'nothing'), '--force', '--yes');
  expect([missing.code, missing.err]).toEqual([3, expect.stringMatching(/no such file/)]);
  expect((await to.exchange('backup', path.join(folder, 'no', 'folder'), '--halt')).code).toBe(3);
  expect((await to.exchange('mode')).out).toBe('HALTED\n');
  expect(await contents(target?.url ?? '')).toEqual(before);
});

test('a backup that is refused before it begins is no failed one', async () => {
  const shell = shellAt(source);
  const standing = async () =>
    (await shell.json('doctor')).checks.find(({ name }: { name: string }) => name === 'backup');
  const before = await standing();
  expect(before).toMatchObject({ verdict: 'ok' });
  await shell.exchange('mode', 'NORMAL');
  const other = path.join(folder, 'other.backup');
  for (const [words, why] of [
    [[file, '--halt'], /exists/],
    [[other], /needs the mode HALTED/],
    [[other, '--halt', '--keep', '0'], /--keep/],
    [[other, '--halt', '--replica', source?.url ?? ''], /leave out --halt/],
  ] as const) {
    const { code, err } = await shell.exchange('backup', ...words);
    expect([code, err]).toEqual([3, expect.stringMatching(why)]);
    expect(await standing()).toEqual(before);
  }
  const failed = await shell.exchange('backup', path.join(folder, 'no', 'folder'), '--halt');
  expect([failed.code, (await standing()).verdict]).toEqual([3, 'warn']);
});

test('a replica is copied while the exchange trades on, the oldest files go, and Redis knows when', async () => {
  const replica = await startTestRedis({ settings: [['replicaof', `127.0.0.1 ${source?.port}`]] });
  const [shell, kept] = [shellAt(source), path.join(folder, 'kept')];
  mkdirSync(kept);
  const copyTo = (name: string, ...flags: string[]) =>
    shell.exchange('backup', path.join(kept, name), ...flags, '--keep', '2');
  const market = [...exchange.known.values()].at(-1);
  if (!market) throw new Error('no market');
  let isTrading = true;
  await shell.exchange('mode', 'NORMAL');
  const trading = (async () => {
    const statuses = [];
    for (let i = 0; isTrading; i++) {
      const wallet = exchange.wallets[i % 8] ?? '';
      statuses.push((await exchange.place(market, wallet, 0, 0, 100, 10)).status);
      // The commands run in this process, too.
      await sleep(PAUSE_MS);
    }
    return statuses;
  })();
  try {
    writeFileSync(path.join(kept, 'notes.backup'), 'no backup');
    const first = await copyTo('1.backup', '--replica', replica.url);
    expect([first.code, first.err]).toEqual([0, '']);
    const again = await copyTo('2.backup', '--replica', replica.url);
    expect([again.code, again.err]).toEqual([3, expect.stringContaining('is no replica')]);
    expect((await shell.json('doctor')).checks).toContainEqual(
      expect.objectContaining({
        name: 'backup',
        verdict: 'warn',
        detail: expect.stringMatching(/^failed at 2/),
      }),
    );
    expect((await copyTo('2.backup', '--halt', '--replica', replica.url)).code).toBe(3);
    const target = shellAt(replica);
    const restored = await target.exchange('restore', path.join(kept, '1.backup'), '--force', '--yes');
    expect([restored.code, restored.err]).toEqual([0, '']);
    expect((await target.exchange('mode')).out).toBe('HALTED\n');
  } finally {
    isTrading = false;
    await replica.stop();
  }
  expect(new Set(await trading)).toEqual(new Set(['OPEN']));
  expect((await copyTo('2.backup', '--halt')).out).not.toContain('deleted');
  expect((await copyTo('3.backup', '--halt')).out).toMatch(/^1\.backup was deleted$/m);
  expect(readdirSync(kept).sort()).toEqual(['2.backup', '3.backup', 'notes.backup']);
  expect((await shell.json('doctor')).checks).toContainEqual({
    name: 'backup',
    verdict: 'ok',
    detail: expect.stringMatching(/^succeeded last: 2/),
  });
});

test('a change during a copy makes the backup start again', async () => {
  const redis = new Redis(source?.url ?? '');
  let moves = 0;
  const moving = setInterval(() => {
    if (moves++ < 40) void redis.hincrby('{x0}:sum', 'moved', 1);
  }, 10);
  try {
    await shellAt(source).exchange('mode', 'CANCEL_ONLY');
    const again = path.join(folder, 'again.backup');
    await shellAt(source).json('backup', again, '--halt');
    expect((await shellAt(source).exchange('mode')).out).toBe('CANCEL_ONLY\n');
    const moved = gunzipSync(readFileSync(again))
      .toString()
      .split('\n')
      .filter((line) => line.includes('bW92ZWQ='));
    const { values } = JSON.parse(moved[0] ?? '{}');
    const at = values.indexOf(Buffer.from('moved').toString('base64'));
    // One value, and no part of a copy that was thrown away.
    expect(moved).toHaveLength(1);
    expect(Number(Buffer.from(values[at + 1], 'base64').toString())).toBe(40);
    expect(readdirSync(folder)).not.toContain('again.backup.partial');
  } finally {
    clearInterval(moving);
    await redis.hdel('{x0}:sum', 'moved');
    redis.disconnect();
  }
});
