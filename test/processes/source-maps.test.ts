import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, startNode } from '../support/processes';

/** People who have the sources read the stacks of the built programs. */
const PROGRAMS = ['web', 'worker', 'cli', 'demo'];
const FIRST = "import './app/source-maps';";

test.each(PROGRAMS)('dist/%s.js maps stacks to sources before it loads anything else', (name) => {
  const source = readFileSync(path.join(ROOT, `src/${name}.ts`), 'utf8');
  expect(/^import .*$/m.exec(source)?.[0]).toBe(FIRST);
});

test('an error of the built program names the file and the line of its source', async () => {
  const thrower = "new (require('./dist/exchange/errors.js').Refusal)('NO_SUCH_CODE')";
  const script = `require('./dist/app/source-maps.js'); try { ${thrower} } catch (error) { console.log(error.stack) }`;
  const { exited, stdout } = startNode(['-e', script]);
  expect(await exited).toBe(0);
  const [, file = '', line = ''] = /at new Refusal \((.*):(\d+):\d+\)/.exec(stdout()) ?? [];
  expect(file).toBe(path.join(ROOT, 'src/exchange/errors.ts'));
  // The line in the source is that of the constructor, which differs from the line in the build.
  expect(readFileSync(file, 'utf8').split('\n')[Number(line) - 1]).toContain('ERRORS[code]');
});
