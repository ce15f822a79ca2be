import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { chosenProblems } from '../src/app/extensions';
import { type Environment, loadConfig } from '../src/config/load';
import { misspelt } from '../src/config/misspelt';
import { ConfigError, type ConfigProblem } from '../src/config/report';
import { VARIABLES } from '../src/config/variables';

const SECRET = 's'.repeat(32);
const ADDRESS = '0x00000000000000000000000000000000000000aa';
const PRODUCTION = { NODE_ENV: 'production', REDIS_URL: 'redis://h', JWT_SECRET: SECRET };
const KEY = `0x${'a1'.repeat(32)}`;
const CONTRACTS = {
  EXCHANGE_ADDRESS: ADDRESS,
  COLLATERAL_ADDRESS: ADDRESS,
  CONDITIONAL_TOKENS_ADDRESS: ADDRESS,
};

function problems(env: Environment): Record<string, ConfigProblem> {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return Object.fromEntries(error.rows.map((row) => [row.variable, row]));
    throw error;
  }
  return {};
}

describe('without any variable', () => {
  it('has the defaults that docs/run/operations.md states', () => {
    expect(loadConfig({})).toMatchObject({
      nodeEnv: 'development',
      port: 3000,
      redisUrls: ['redis://127.0.0.1:6379'],
      redisGiven: false,
      network: 'testnet',
      chainId: 97,
      publicBaseUrl: 'http://localhost:3000',
      adminTokens: null,
      funds: 'paper',
      paperGrantMicro: 10_000_000_000,
      rateLimit: true,
      serveUi: true,
      broadcastIntervalMs: 25,
      matchMakersMax: 500,
      trustProxy: false,
      eip712Name: 'Market CTF Exchange',
      collateralDecimals: 18,
      chain: null,
      demo: false,
    });
  });

  it('invents a secret of its own each time', () => {
    const [one, two] = [loadConfig({}), loadConfig({})].map((config) => config.jwtSecrets[0]?.secret ?? '');
    expect(one?.length).toBeGreaterThanOrEqual(32);
    expect(one).not.toBe(two);
  });

  it('treats an empty or blank value as unset', () => {
    const blank = Object.fromEntries(
      Object.keys(VARIABLES).map((name, index) => [name, index % 2 ? '' : '  ']),
    );
    const { jwtSecrets: _, secrets: __, ...config } = loadConfig(blank);
    expect(loadConfig({})).toMatchObject(config);
  });
});

describe('accepted values', () => {
  const accepted: [Environment, Partial<ReturnType<typeof loadConfig>>][] = [
    [{ PORT: '0' }, { port: 0, publicBaseUrl: 'http://localhost:0' }],
    [{ PORT: ' 65535 ' }, { port: 65535 }],
    [
      { NETWORK: 'mainnet', ...CONTRACTS },
      { chainId: 56, exchangeAddress: ADDRESS, conditionalTokensAddress: ADDRESS },
    ],
    [{ PUBLIC_BASE_URL: 'https://api.example.com/' }, { publicBaseUrl: 'https://api.example.com' }],
    [{ ARCHIVE_KEEP_MONTHS: '12' }, { archiveKeepMonths: 12 }],
    [{ SHARDS: '64' }, { shards: 64 }],
    [{ REDIS_URL: 'rediss://u:p@h:1/2' }, { redisUrls: ['rediss://u:p@h:1/2'], redisGiven: true }],
    [{ REDIS_URL: 'redis://a:1, redis://b:2' }, { redisUrls: ['redis://a:1', 'redis://b:2'] }],
    [
      { REDIS_URL: 'rediss+sentinel://u:p@a:1, b/main/2?sentinelPassword=q' },
      {
        redisUrls: [
          'rediss+sentinel://u:p@a:1/main/2?sentinelPassword=q',
          'rediss+sentinel://u:p@b/main/2?sentinelPassword=q',
        ],
      },
    ],
    [{ JWT_SECRET: SECRET }, { jwtSecrets: [{ kid: null, secret: SECRET }] }],
    [
      { JWT_SECRET: `new:${SECRET}:x,old:${SECRET}` },
      {
        jwtSecrets: [
          { kid: 'new', secret: `${SECRET}:x` },
          { kid: 'old', secret: SECRET },
        ],
      },
    ],
    [{ PAPER_GRANT: '1000000' }, { paperGrantMicro: 1e12 as never }],
    [{ PAPER_GRANT: '0.000001' }, { paperGrantMicro: 1 as never }],
    [
      { RATE_LIMIT: 'off', SERVE_UI: '0', DEMO: '1' },
      { rateLimit: false, serveUi: false, demo: true },
    ],
    [{ CORS_ORIGINS: 'none' }, { corsOrigins: [] }],
    [
      { CORS_ORIGINS: 'https://a.com,http://b.com:81' },
      { corsOrigins: ['https://a.com', 'http://b.com:81'] },
    ],
    [{ TRUST_PROXY: '2' }, { trustProxy: 2 }],
    [{ TRUST_PROXY: 'loopback, 10.0.0.0/8, ::1' }, { trustProxy: ['loopback', '10.0.0.0/8', '::1'] }],
    [
      { MATCH_MAKERS_MAX: '1000', COLLATERAL_DECIMALS: '6' },
      { matchMakersMax: 1000, collateralDecimals: 6 },
    ],
  ];
  it.each(accepted)('%j is accepted', (env, expected) => {
    expect(loadConfig(env)).toMatchObject(expected);
  });
});

describe('DURABILITY=replicated', () => {
  const of = (more: Environment) => loadConfig({ DURABILITY: 'replicated', ...more });
  it('is for one server, or the Sentinels of one', () => {
    expect(of({ REDIS_URL: 'redis://a' }).durability).toBe('replicated');
    expect(of({ REDIS_URL: 'redis+sentinel://a,b/main' }).durability).toBe('replicated');
  });
  it.each([[{ SHARDS: '4' }], [{ REDIS_URL: 'redis://a,redis://b' }]])('is refused with %j', (more) => {
    expect(() => of(more)).toThrow(/DURABILITY needs one Redis, or the Sentinels of one, and SHARDS=1/);
  });
});

describe('refused values', () => {
  const refused: [keyof typeof VARIABLES, string[]][] = [
    ['NODE_ENV', ['prod']],
    ['SHARDS', ['0', '3', '128', '4.0', 'two']],
    ['ARCHIVE_KEEP_MONTHS', ['0', '1.5', 'ever', '1201']],
    ['PORT', ['-1', '65536', '80a', '0x50', '1e3', '3000.5']],
    [
      'REDIS_URL',
      [
        'localhost:6379',
        'http://h',
        'redis://h/name',
        'redis://',
        'redis://a,',
        'redis://a/1,redis://b',
        'redis://:%zz@h',
        'redis+sentinel://a:1,b:2',
        'redis+sentinel://a:1,/main',
        'redis+sentinel:///main',
        'redis+sentinel://a/main/x',
        'redis+sentinel://a/main?password=p',
        'redis+sentinel://:%zz@a/main',
      ],
    ],
    ['NETWORK', ['Mainnet', '97']],
    [
      'PUBLIC_BASE_URL',
      ['example.com', 'ftp://a', 'http://u:p@a', 'http://a/?b', 'http://a/#b', 'https://example.com/v1/'],
    ],
    ['EXCHANGE_ADDRESS', ['0x12', `${ADDRESS}0`, `0x${'0'.repeat(40)}`, `0x${'g'.repeat(40)}`]],
    // One letter in the wrong case, one digit changed.
    ['COLLATERAL_ADDRESS', ['0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266']],
    ['CONDITIONAL_TOKENS_ADDRESS', ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92265']],
    [
      'JWT_SECRET',
      [
        'short',
        `a:${SECRET},b:short`,
        `a:${SECRET},${SECRET}`,
        `a:${SECRET},a:${SECRET}`,
        `kid:${'s'.repeat(31)}`,
      ],
    ],
    [
      'ADMIN_TOKEN',
      [
        'a'.repeat(31),
        `${'a'.repeat(31)} b`,
        'é'.repeat(40),
        'a'.repeat(40),
        'abcdefg'.repeat(6),
        'change-me'.repeat(4),
      ],
    ],
    ['REDIS_TLS_CA', ['ca.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----']],
    ['DURABILITY', ['none', 'yes']],
    ['DRAIN_MS', ['-1', '60001', '1.5 s']],
    ['FUNDS', ['Chain', 'real']],
    ['PAPER_GRANT', ['-1', '1e3', '0.0000001', '1000000.000001', '1,000', '.5']],
    ['RATE_LIMIT', ['yes', 'OFF']],
    ['BROADCAST_INTERVAL_MS', ['-1', '10001', '2.5']],
    ['MATCH_MAKERS_MAX', ['0', '1001']],
    ['RESOLVE_DELAY', ['-1', '604801', '0.5']],
    ['CORS_ORIGINS', ['example.com', 'https://a.com/', 'https://a.com,*']],
    ['TRUST_PROXY', ['true', 'on', '10.0.0.0/33', '10.0.0.0/8/8', 'proxy', '1.2.3']],
    ['LOG_LEVEL', ['verbose', 'INFO']],
    ['EIP712_NAME', ['n'.repeat(65), 'tab\tname']],
    ['COLLATERAL_DECIMALS', ['5', '37']],
    ['CHAIN_RPC_URL', ['localhost:8545', 'redis://a', 'ws://a', 'http://a,http://a', 'http://a,']],
    ['OPERATOR_KEYS', ['0x12', 'ab'.repeat(32), `0x${'0'.repeat(64)}`, `${KEY},${KEY}`]],
    ['OPERATOR_SIGNER_URL', ['localhost:9000', 'ws://a']],
    ['ORACLE_KEY', ['0x12', `${KEY},${KEY}`]],
    ['ALLOW_HOT_KEYS', ['yes']],
    ['CHAIN_CONFIRMATIONS', ['0', '1.5', 'latest']],
    ['CHAIN_START_BLOCK', ['-1', '1.5', 'latest']],
    ['GAS_PRICE_MAX', ['0', '-1', '10001', '1 gwei', '0.0000000001']],
    ['UNSETTLED_MAX_NEW', ['-1', 'all', '0.0000001']],
    ['FRESH_FUNDS_MAX', ['-1', 'all', '0.0000001']],
    ['CONTRACTS_AUDIT', ['yes', 'x'.repeat(201)]],
    ['DEMO', ['maybe']],
  ];
  const rows = refused.flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  it.each(rows)('%s=%s is refused', (name, value) => {
    expect(Object.keys(problems({ [name]: value }))).toEqual([name]);
  });

  it('production needs a Redis and a secret', () => {
    const found = problems({ NODE_ENV: 'production' });
    expect(Object.keys(found)).toEqual(['REDIS_URL', 'PUBLIC_BASE_URL', 'JWT_SECRET']);
    expect(found.JWT_SECRET).toMatchObject({ given: '(unset)', problem: 'is required in production' });
    const whole = { ...PRODUCTION, PUBLIC_BASE_URL: 'http://exchange.example' };
    expect(problems(whole)).toEqual({});
  });

  it('a worker and the command line need no secret of web in production, nor what web alone reads', () => {
    const env = { NODE_ENV: 'production', REDIS_URL: 'redis://h' };
    expect(Object.keys(problems(env)).sort()).toEqual(['JWT_SECRET', 'PUBLIC_BASE_URL']);
    expect(loadConfig(env, 'other')).toMatchObject({ nodeEnv: 'production', adminTokens: null });
  });

  it('a name that is almost that of a variable is reported, and no other name', () => {
    const near = {
      TRUST_PROXI: 'TRUST_PROXY',
      TURST_PROXY: 'TRUST_PROXY',
      trust_proxy: 'TRUST_PROXY',
      JWT_SECRETS: 'JWT_SECRET',
      RATELIMIT: 'RATE_LIMIT',
      OPERATOR_KEY: 'OPERATOR_KEYS',
      SHARD: 'SHARDS',
    };
    const foreign = [
      'HOME',
      'HOSTNAME',
      'PATH',
      'PORTS',
      'DEBUG',
      'NODE_OPTIONS',
      'npm_config_cache',
      'POSTGRES_PASSWORD',
    ];
    const compose = [
      'REDIS_PASSWORD',
      'REDIS_MAXMEMORY',
      'COMPOSE_PROFILES',
      'BASE_URL',
      'REDISCLI_AUTH',
      'LOG_FORMAT',
    ];
    const env = Object.fromEntries([...Object.keys(near), ...foreign, ...compose].map((name) => [name, '1']));
    expect(misspelt({ ...env, TRUST_PROXY: '1' })).toEqual(
      Object.entries(near).map(([variable, known]) => ({ variable, known })),
    );
  });

  it('production behind TLS needs a statement about the proxy that ends it', () => {
    const secure = { ...PRODUCTION, PUBLIC_BASE_URL: 'https://exchange.example' };
    expect(problems(secure)).toMatchObject({
      TRUST_PROXY: { given: '(unset)', problem: expect.stringContaining('the number of proxies, or off') },
    });
    for (const TRUST_PROXY of ['1', 'off', 'loopback'])
      expect(problems({ ...secure, TRUST_PROXY })).toEqual({});
  });

  it('mainnet needs its contracts', () => {
    expect(Object.keys(problems({ NETWORK: 'mainnet' }))).toEqual(Object.keys(CONTRACTS));
  });

  it('mainnet refuses an address of the test network', () => {
    const copied = { EXCHANGE_ADDRESS: VARIABLES.EXCHANGE_ADDRESS.fallback ?? '' };
    expect(problems({ NETWORK: 'mainnet', ...CONTRACTS, ...copied })).toMatchObject({
      EXCHANGE_ADDRESS: { problem: 'is the address of the testnet: mainnet needs its own' },
    });
  });

  it('all errors are reported at once', () => {
    const found = problems({
      PORT: 'x',
      NETWORK: 'y',
      NODE_ENV: 'production',
      ADMIN_TOKEN: 'z',
      FUNDS: 'gold',
    });
    expect(Object.keys(found).sort()).toEqual([
      'ADMIN_TOKEN',
      'FUNDS',
      'JWT_SECRET',
      'NETWORK',
      'PORT',
      'PUBLIC_BASE_URL',
      'REDIS_URL',
    ]);
  });

  it('rules between variables are reported with the bad ones, and each name in EXTENSIONS has a row', () => {
    const env = {
      PORT: 'x',
      FUNDS: 'chain',
      SHARDS: '2',
      ARCHIVE_URL: 'bad',
      DURABILITY: 'replicated',
      EXTENSIONS: 'site,nothing,archive',
    };
    const rows = (): string[] => {
      try {
        loadConfig(env, 'web', chosenProblems);
      } catch (error) {
        if (error instanceof ConfigError)
          return error.rows.map(({ variable, given }) => `${variable} ${given}`);
      }
      throw new Error('accepted');
    };
    expect(rows().sort()).toEqual([
      'ARCHIVE_URL (hidden)',
      'CHAIN_RPC_URL (unset)',
      'COLLATERAL_ADDRESS (unset)',
      'CONDITIONAL_TOKENS_ADDRESS (unset)',
      'DURABILITY replicated',
      'EXCHANGE_ADDRESS (unset)',
      'EXTENSIONS archive',
      'EXTENSIONS nothing',
      'ORACLE_ADDRESS (unset)',
      'PORT x',
      'SHARDS 2',
    ]);
  });
});

describe('the report', () => {
  const script = `
    const { loadConfig } = require("./src/config/load.ts");
    const { reportAndExit } = require("./src/config/report.ts");
    try { loadConfig(); } catch (error) { reportAndExit(error); }
    process.stdout.write('went on');`;
  const run = (env: Environment) =>
    spawnSync(process.execPath, ['-r', './test/support/typescript.js', '-e', script], {
      cwd: path.join(__dirname, '..'),
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    });

  it('is one table with a row per variable, exit code 78, no stack and no secret', () => {
    const { status, stdout, stderr } = run({
      PORT: 'eighty',
      ADMIN_TOKEN: 'my-little-token',
      JWT_SECRET: 'hunter2',
      REDIS_URL: 'redis://:hunter3@h/x',
      PUBLIC_BASE_URL: 'https://me:hunter4@example.com',
      CHAIN_RPC_URL: 'key-hunter5',
      OPERATOR_KEYS: '0xhunter6',
      CORS_ORIGINS: `https://${'long'.repeat(30)}.example/\u001b[31m`,
    });
    expect(status).toBe(78);
    expect(stdout).toBe('');
    expect(stderr).not.toMatch(/hunter|my-little|\bat .*:\d+/);
    expect(stderr).not.toContain('\u001b');
    const lines = stderr.trimEnd().split('\n');
    expect(lines[0]).toBe('Bad configuration:');
    expect(lines[1]).toMatch(/^VARIABLE +GIVEN +PROBLEM$/);
    expect(lines).toHaveLength(2 + 8);
    expect(stderr).toMatch(/^PORT +eighty +must be a whole number from 0 to 65535$/m);
    expect(stderr).toMatch(/^ADMIN_TOKEN +\(hidden\) +must be at least 32/m);
    const columns = lines.slice(1).map((line) => line.search(/(?<=\S {2,})\S/));
    expect(new Set(columns).size).toBe(1);
  });

  it('is silent without an error', () => {
    expect(run({})).toMatchObject({ status: 0, stdout: 'went on', stderr: '' });
  });
});
