import { createLogger, createScrubber } from '../src/log';

const SIGNATURE = `0x${'ab'.repeat(65)}`;
const HASH = `0x${'cd'.repeat(32)}`;
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIweDEifQ.c2lnbmF0dXJl-_';
const ADMIN_TOKEN = 'operator "token" with 32 characters';

function logged(write: (log: ReturnType<typeof createLogger>) => void): {
  text: string;
  record: Record<string, unknown>;
} {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  write(createLogger({ logLevel: 'info', secrets: [ADMIN_TOKEN, 'abc'] }, 'web', stream));
  return { text: lines.join(''), record: JSON.parse(lines[0] ?? '{}') };
}

describe('the content of the log', () => {
  it('is one JSON record a line with level, process, ISO time and message', () => {
    const { record } = logged((log) => log.info({ marketId: 'm1' }, 'opened'));
    expect(record).toMatchObject({ level: 'info', name: 'web', marketId: 'm1', msg: 'opened' });
    expect(record.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('leaves out what is below the level', () => {
    expect(logged((log) => log.debug('noise')).text).toBe('');
  });

  it('keeps texts that only look like a secret', () => {
    const { record } = logged((log) =>
      log.info({ orderHash: HASH, tokenId: '123', url: 'http://h:80/a@b' }, 'abc'),
    );
    expect(record).toMatchObject({ orderHash: HASH, tokenId: '123', url: 'http://h:80/a@b', msg: 'abc' });
  });
});

describe('secrets are hidden in the log', () => {
  const cases: [string, (log: ReturnType<typeof createLogger>) => void, string][] = [
    [
      'an authorization header',
      (log) => log.info({ req: { headers: { Authorization: 'Digest top' } } }, 'in'),
      'Digest top',
    ],
    [
      'a bearer token in raw headers',
      (log) => log.info({ raw: ['authorization', 'Bearer abc.def-1'] }, 'in'),
      'abc.def-1',
    ],
    [
      'a token deep inside',
      (log) => log.info({ a: { b: { c: [{ refreshToken: 'deep"quoted\\' }] } } }, 'in'),
      'deep',
    ],
    [
      'a token in a JSON text',
      (log) => log.info({ body: JSON.stringify({ accessToken: 'inner' }) }, 'in'),
      'inner',
    ],
    ['a JWT in a message', (log) => log.info(`refused ${JWT}`), 'eyJ'],
    ['a signature member', (log) => log.info({ order: { signature: '0x1234' } }, 'in'), '0x1234'],
    ['a signature in a message', (log) => log.info(`bad ${SIGNATURE} of ${HASH}`), SIGNATURE],
    ['the operator token', (log) => log.info({ note: `sent ${ADMIN_TOKEN}` }, 'in'), 'operator'],
    [
      'a Redis password',
      (log) => log.error(new Error('redis://user:pass%20word@host:6379 is away')),
      'pass%20word',
    ],
    ['a Redis password without a user', (log) => log.info('rediss://:hunter2@host'), 'hunter2'],
    ['what a child logger is bound to', (log) => log.child({ token: 'bound' }).info('in'), 'bound'],
  ];
  it.each(cases)('%s', (_name, write, secret) => {
    const { text, record } = logged(write);
    expect(text).not.toContain(secret);
    expect(text).toContain('[hidden]');
    expect(record.name).toBe('web');
  });

  it('a secret that contains another one is hidden completely', () => {
    expect(createScrubber(['secret', 'secret-longer'])('x secret-longer y')).toBe('x [hidden] y');
  });
});
