import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { commandsOf, EXTENSIONS } from '../../src/app/extensions';
import { createProgram } from '../../src/cli/program';
import { EXIT } from '../../src/cli/store';
import { DIFFERENCE_KINDS } from '../../src/exchange/audit';
import { WEB_CONNECTIONS, WORKER_CONNECTIONS } from '../../src/store/health/doctor';
import { ROOT } from '../support/processes';

const PAGE = readFileSync(path.join(ROOT, 'docs/run/cli.md'), 'utf8');
const section = (title: string): string => PAGE.split(/^## /m).find((text) => text.startsWith(title)) ?? '';

/** `markets resolve <market>`: the commands that do something. */
function usages(command: Command, before = ''): string[] {
  const args = command.registeredArguments.map((one) =>
    one.required ? `<${one.name()}>` : `[${one.name()}]`,
  );
  const name = `${before}${command.name()}`;
  if (command.commands.length === 0) return [[name, ...args].join(' ')];
  return command.commands.flatMap((one) => usages(one, before === '' ? '' : `${name} `));
}

test('docs/run/cli.md lists every command, and no other', () => {
  const program = createProgram('0.0.0', () => undefined, commandsOf(EXTENSIONS));
  const shown = program
    .createHelp()
    .visibleCommands(program)
    .filter((one) => one.name() !== 'help');
  const all = shown.flatMap((one) =>
    one.commands.length === 0 ? usages(one) : one.commands.flatMap((two) => usages(two, `${one.name()} `)),
  );
  const told = [...section('Commands').matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]);
  expect(told.sort()).toEqual(all.sort());
  expect(all.length).toBeGreaterThan(14);
});

test('docs/run/cli.md lists every kind of difference, exit code and connection', () => {
  const rows = [...section('Audit').matchAll(/^\| ((?:`[A-Z_]+`(?:, )?)+) \|/gm)];
  const kinds = rows.flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map((match) => match[1] ?? ''),
  );
  expect(kinds.sort()).toEqual([...DIFFERENCE_KINDS].sort());
  const codes = [...PAGE.matchAll(/^\| (\d+) \|/gm)].map((match) => Number(match[1]));
  expect(codes).toEqual([...Object.values(EXIT), 78]);
  expect(section('Doctor')).toContain(`a web process has ${WEB_CONNECTIONS}, a worker ${WORKER_CONNECTIONS}`);
});
