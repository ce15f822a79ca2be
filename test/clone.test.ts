import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from './support/processes';

test('a clone by Git for Windows has the ends of lines that scripts need', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-clone-'));
  try {
    // What a clone writes, with the default setting of Git for Windows.
    execFileSync('git', ['-c', 'core.autocrlf=true', 'checkout-index', '-a', `--prefix=${folder}/`], {
      cwd: ROOT,
    });
    const files = execFileSync(
      'git',
      ['ls-files', '-z', '*.lua', '*.sh', '*.ts', '*.js', '.ci/run', 'docs'],
      {
        cwd: ROOT,
        encoding: 'utf8',
      },
    ).split('\0');
    const texts = files.filter((name) => name !== '' && !/\.(png|woff2|ttf)$/.test(name));
    expect(texts.length).toBeGreaterThan(1_000);
    expect(texts.filter((name) => readFileSync(path.join(folder, name)).includes('\r\n'))).toEqual([]);
    execFileSync('sh', ['-n', path.join(folder, 'docs/deploy/redis-cluster.sh')]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
