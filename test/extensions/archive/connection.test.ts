import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { NOTHING } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { packed } from '../../../src/extensions/archive/postgres/arrays';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { until } from '../../support/waiting';

const LIMIT_MS = 120_000;

describeWithPostgres('a connection to PostgreSQL', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startTestPostgres();
  }, LIMIT_MS);
  afterAll(async () => postgres?.stop());

  test('numbers, texts and bytes come as they are, also the largest, the negative and the empty ones', async () => {
    const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number;
    const numbers = [0, -1, most, least, 2 ** 31, 2 ** 32 - 1, 2 ** 32, -(2 ** 32) - 5];
    const [texts, bytes] = [
      ['', 'ü "\\{}, NULL', '漢'],
      [Buffer.alloc(0), randomBytes(300)],
    ];
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    const text = 'select $1::int8[]::text[] as numbers, $2::text[] as texts, $3::bytea[] as bytes';
    const { rows } = await client.query(text, [numbers, texts, bytes].map(packed));
    await client.end();
    expect(rows).toEqual([{ numbers: numbers.map(String), texts, bytes }]);
  });

  test('a transaction that waits for another one is broken off at once, and adds nothing', async () => {
    const archive = createArchive({ url: postgres.url });
    await archive.open();
    const other = new Client({ connectionString: postgres.url });
    await other.connect();
    await other.query('begin; select * from archive_state for update');
    const failed = expect(archive.append(1, NOTHING)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock'`;
    await until('it waits', async () => (await other.query(waiting)).rowCount === 1);
    archive.breakOff();
    await failed;
    await expect(archive.cutBack(0)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await other.query('rollback');
    await other.end();
    const next = createArchive({ url: postgres.url });
    expect((await next.open()).batch).toBe(0);
    expect(await next.append(1, NOTHING)).toBe(true);
    await Promise.all([archive.close(), next.close()]);
  });
});
