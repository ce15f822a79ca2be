import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { packed } from '../../src/archive/arrays';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../support/postgres';

const LIMIT_MS = 120_000;

describeWithPostgres('arrays in the binary form of PostgreSQL', () => {
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
});
