import { readFileSync } from 'node:fs';

const { compile, fileOf, textOf } = require('../../../scripts/contracts.js') as {
  readonly compile: () => ReadonlyMap<string, object>;
  readonly fileOf: (name: string) => string;
  readonly textOf: (artifact: object) => string;
};

test('a new compilation of the contracts gives the committed artifacts, byte for byte', () => {
  for (const [name, artifact] of compile()) {
    expect([name, textOf(artifact) === readFileSync(fileOf(name), 'utf8')]).toEqual([name, true]);
  }
});
