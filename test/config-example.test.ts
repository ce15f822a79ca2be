import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '../src/config/load';
import { VARIABLES } from '../src/config/variables';

describe('.env.example', () => {
  const text = readFileSync(path.join(__dirname, '../.env.example'), 'utf8');
  const entries = [...text.matchAll(/^#? ?([A-Z][A-Z0-9_]+)=(.*)$/gm)].map(([, name = '', value = '']) => ({
    name,
    value,
  }));

  it('contains every variable once, and no other', () => {
    expect(entries.map(({ name }) => name).sort()).toEqual(Object.keys(VARIABLES).sort());
  });

  it('shows the defaults', () => {
    const shown = Object.fromEntries(entries.map(({ name, value }) => [name, value]));
    for (const [name, { fallback }] of Object.entries(VARIABLES))
      expect([name, shown[name]]).toEqual([name, fallback ?? '']);
  });

  it('explains each variable in the words of the table', () => {
    const words = text.replace(/\n# /g, ' ').replace(/\s+/g, ' ');
    for (const { doc } of Object.values(VARIABLES)) expect(words).toContain(doc);
  });

  it('is a valid configuration as it is', () => {
    expect(() =>
      loadConfig(Object.fromEntries(entries.map(({ name, value }) => [name, value]))),
    ).not.toThrow();
  });
});
