#!/usr/bin/env node
import './app/source-maps';
import { createInterface } from 'node:readline/promises';
import { chosenExtensions, chosenProblems, commandsOf, type Extension } from './app/extensions';
import { PROGRAM } from './app/process';
import { openStore } from './app/store';
import { runCli } from './cli/run';
import { type Config, loadConfig, processEnvironment } from './config/load';
import { misspelt } from './config/misspelt';
import { reportAndExit } from './config/report';
import { parseExtensions } from './config/values';
import { createLogger } from './log';

const EXIT_BROKEN = 4;

// A reader may stop reading: `exchange settlements export | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? 0 : EXIT_BROKEN),
);

const config = (): Config => loadConfig(processEnvironment(), 'other', chosenProblems);

/** The help needs no other variable; a bad name is reported with everything else that is wrong. */
function extensions(): readonly Extension[] {
  try {
    const extensions = parseExtensions(processEnvironment().EXTENSIONS?.trim() || 'all');
    return chosenExtensions(chosenProblems({ extensions }).length > 0 ? config() : { extensions });
  } catch (error) {
    return reportAndExit(error);
  }
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

runCli(process.argv.slice(2), {
  extensions: commandsOf(extensions()),
  version: PROGRAM.version,
  open: async () => {
    const loaded = config();
    for (const { variable, known } of misspelt(processEnvironment()))
      process.stderr.write(`there is no variable ${variable}; did you mean ${known}?\n`);
    // Commands print answers and errors; log records would mix with them.
    return openStore(loaded, createLogger({ ...loaded, logLevel: 'silent' }, 'cli'));
  },
  out: (text) =>
    new Promise((resolve) => {
      if (process.stdout.write(text)) resolve();
      else process.stdout.once('drain', resolve);
    }),
  err: (text) => process.stderr.write(text),
  // NO_COLOR and TERM=dumb count here, too.
  isColoured: process.stdout.isTTY && process.stdout.hasColors(),
  ...(process.stdin.isTTY && process.stdout.isTTY ? { ask } : {}),
}).then((code) => {
  process.exitCode = code;
  // The client gives up an unfinished connection only seconds later.
  if (code === EXIT_BROKEN) process.exit();
}, reportAndExit);
