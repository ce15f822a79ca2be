import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The packages of the lock file. */
interface Locked {
  readonly integrity?: string;
  readonly dev?: true;
  readonly optional?: true;
  readonly hasInstallScript?: true;
}
const locked = Object.entries(
  (
    JSON.parse(readFileSync(path.join(__dirname, '../package-lock.json'), 'utf8')) as {
      packages: Readonly<Record<string, Locked>>;
    }
  ).packages,
).filter(([name]) => !/^$|^packages\/|\/ctf-exchange-client$/.test(name));

test('every entry of the lock file has its digest', () => {
  // The local chain of the tests, for developers on other platforms than the one that locked it, whose registry lacks them.
  // Without their entries `npm ci` refuses the whole lock file.
  const elsewhere = new Set(
    ['darwin-amd64', 'darwin-arm64', 'linux-arm64', 'win32-amd64'].map(
      (machine) => `node_modules/@foundry-rs/anvil-${machine}`,
    ),
  );
  const without = locked.filter(([, { integrity }]) => integrity === undefined);
  const unknown = without.filter(([name, { dev, optional }]) => !(elsewhere.has(name) && dev && optional));
  expect(unknown.map(([name]) => name)).toEqual([]);
});

test('an installation for production has no install script but those of three optional native parts', () => {
  const scripts = locked.filter(([, { dev, hasInstallScript }]) => hasInstallScript && !dev);
  expect(scripts.map(([name]) => name.split('node_modules/').at(-1))).toEqual([
    'koffi',
    'msgpackr-extract',
    'secp256k1',
  ]);
});
