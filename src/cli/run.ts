import { styleText } from 'node:util';
import { CommanderError } from 'commander';
import { Refusal } from '../exchange/errors';
import { isFull } from '../store/redis/unreachable';
import { createProgram } from './program';
import {
  type Choose,
  type Chosen,
  type CliDeps,
  EXIT,
  type ExitCode,
  NotConfirmed,
  type Speaker,
  UNREADABLE,
} from './store';

/** Runs the command that the words name. Resolves with the exit code; rejects only with a ConfigError. */
export async function runCli(words: readonly string[], deps: CliDeps): Promise<ExitCode> {
  let chosen: Chosen | null = null;
  const choose: Choose = (command, otherwise) => {
    chosen = { command, ...otherwise };
  };
  const program = createProgram(deps.version, choose, deps.extensions);
  program.configureOutput({
    writeOut: (text) => void deps.out(text),
    writeErr: deps.err,
    outputError: (text, write) => write(`${text.trim().replace(/\s*\n\s*/g, ' ')}\n`),
  });
  for (const command of [program, ...program.commands, ...program.commands.flatMap((one) => one.commands)]) {
    command.copyInheritedSettings(program);
  }
  try {
    program.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  if (chosen === null) return EXIT.usage;
  return execute(chosen, program.opts().json === true, deps);
}

async function execute(
  { command, alone, anyData, except, unreachable }: Chosen,
  isJson: boolean,
  deps: CliDeps,
): Promise<ExitCode> {
  const speaker = createSpeaker(isJson, deps);
  if (alone) return alone(speaker).catch((error: unknown) => report(error, deps));
  const opened = await deps.open().catch((error: unknown) => {
    if (error instanceof Error && error.name === 'ConfigError') throw error;
    return messageOf(error);
  });
  if (typeof opened === 'string') {
    if (unreachable) return unreachable(speaker, opened);
    deps.err(`error: ${opened}\n`);
    return EXIT.broken;
  }
  try {
    const wrong = anyData ? null : await opened.operations.dataProblem(except);
    if (wrong !== null) {
      deps.err(`error: ${wrong}\n`);
      return UNREADABLE;
    }
    return await command({ store: opened, ...speaker });
  } catch (error) {
    const causes = error instanceof NotConfirmed ? [] : await opened.operations.causes(error);
    return report(error, deps, causes);
  } finally {
    opened.close();
  }
}

function createSpeaker(isJson: boolean, deps: CliDeps): Speaker {
  const line = (text: string): Promise<void> => deps.out(`${text}\n`);
  return {
    isJson,
    line,
    paint: (style, text) => (deps.isColoured ? styleText(style, text, { validateStream: false }) : text),
    confirm: async (what, isForGood = true) => {
      const [note, ending] = isForGood
        ? (['this cannot be undone; ', ' This cannot be undone.'] as const)
        : (['', ''] as const);
      if (!deps.ask) throw new NotConfirmed(`${what}: ${note}repeat the command with --yes`);
      const answer = await deps.ask(`${what}.${ending} Type yes: `);
      if (answer.trim() !== 'yes') throw new NotConfirmed('nothing was done');
    },
    say: async (value, lines) => {
      if (isJson) await line(JSON.stringify(value));
      else for (const text of lines) await line(text);
    },
  };
}

/** `causes` are what may be behind the error. */
function report(error: unknown, deps: CliDeps, causes: readonly string[] = []): ExitCode {
  deps.err(`error: ${messageOf(error)}${causes.map((one) => ` (${one})`).join('')}\n`);
  if (error instanceof NotConfirmed) return EXIT.usage;
  return error instanceof Refusal || isOfFile(error) ? EXIT.refused : EXIT.broken;
}

const NO_RIGHT = 'this user has no right to it; give it one, or choose another file';
/** What the codes of the file system mean for the file that a command names. */
const FILE_CODES: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'there is no such file or folder; check the path'],
  ['EACCES', NO_RIGHT],
  ['EPERM', NO_RIGHT],
  ['EEXIST', 'it exists; choose another file'],
  ['EISDIR', 'it is a folder; choose a file'],
  ['ENOTDIR', 'a part of the path is no folder; check the path'],
  ['EROFS', 'its disk is read-only; choose another file'],
]);
/** A socket that is a file is a server's. */
const isOfFile = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && FILE_CODES.has(error.code) && !('address' in error);

const FULL =
  'Redis is full, and refused what the command needs: raise its maxmemory (docs/run/runbook.md#exchangeredisfull), then repeat the command';

/** Returns one line for any error. */
function messageOf(error: unknown): string {
  if (isFull(error)) return FULL;
  // The error of a read has no path.
  if (isOfFile(error)) return `${error.path ?? 'the file'}: ${FILE_CODES.get(error.code)}`;
  const text =
    error instanceof Refusal ? refusalText(error) : error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').trim();
}

function refusalText({ code, message, extra }: Refusal): string {
  const errors = Array.isArray(extra.errors) ? (extra.errors as { path: string; message: string }[]) : [];
  const details = errors.map(({ path, message: why }) => `${path} ${why}`).join('; ');
  return `${code}: ${details === '' || message.includes(details) ? message : details}`;
}
