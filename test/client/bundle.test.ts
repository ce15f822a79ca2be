import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { ROOT } from '../support/processes';
import { tell } from '../support/telling';

/** socket.io-client is most of it. */
const GZIPPED_MAX = 28_200;

test('the client is one browser module without any part of Node', async () => {
  const { outputFiles, warnings, metafile } = await build({
    entryPoints: [path.join(ROOT, 'packages/client/src/index.ts')],
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'exchange',
    metafile: true,
    write: false,
  });
  const code = outputFiles[0]?.text ?? '';
  const gzipped = gzipSync(code).length;
  tell(`client for browsers: ${code.length} bytes, ${gzipped} gzipped`);
  expect(warnings).toEqual([]);
  expect(gzipped).toBeLessThan(GZIPPED_MAX);
  const rooms = Object.keys(metafile.inputs).filter((file) => !file.startsWith('node_modules/'));
  expect(rooms.length).toBeGreaterThan(10);
  expect(rooms.filter((file) => !file.startsWith('packages/client/src/'))).toEqual([]);

  // With only the globals of a browser.
  const page = { URLSearchParams, setTimeout, clearTimeout, setInterval, clearInterval, crypto };
  const price = runInNewContext(`${code}; exchange.complementPrice('0.62')`, { ...page });
  expect(price).toBe('0.38');
});
