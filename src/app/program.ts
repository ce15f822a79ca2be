import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Program } from '../http/context';
import { LAYOUT } from '../store/health/layout';

/** The build that scripts/build.js wrote. */
const COMMIT_FILE = path.join(__dirname, '../../dist/commit');
const { version } = require('../../package.json') as { version: string };

const commitOf = (): string | null =>
  (existsSync(COMMIT_FILE) && readFileSync(COMMIT_FILE, 'utf8').trim()) || null;

export const PROGRAM: Program = { version, commit: commitOf(), layout: LAYOUT };
