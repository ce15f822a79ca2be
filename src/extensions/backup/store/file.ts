import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { SHARD_COUNTS } from '../../../store/redis/tags';
import { type ArchiveMark, isArchiveMark } from './archive-mark';

/**
 * The file of a backup: gzipped lines of JSON. The first line is the header; each further line is a piece of a key; the
 * last line contains the number of pieces and the SHA-256 of everything before it, which reveals a file that was cut or
 * changed.
 */
export const BACKUP_FORMAT = 'ctf-exchange-backup';
export const BACKUP_VERSION = 1;

/** The most characters of values in a written line, and the most bytes in a line that is read. */
const VALUES_MAX = 1_048_576;
const LINE_MAX_BYTES = 16 * 1_048_576;
const END_OF_LINE = 10;

export interface BackupHeader {
  readonly format: typeof BACKUP_FORMAT;
  readonly version: number;
  readonly createdAt: string;
  /** The chain and contract of the orders: with others, the signatures would belong to another exchange. */
  readonly chainId: number;
  readonly exchange: string;
  /** The layout of the data, and the oldest layout whose programs may read it; missing in files older than layouts. */
  readonly layout?: number;
  readonly oldestLayout?: number;
  /** Missing when nothing had left Redis for an archive. */
  readonly archive?: ArchiveMark;
  /** The number of shards; missing when there is one. */
  readonly shards?: number;
  /** In place of `archive` when there are several shards: of each, null when nothing had left it. */
  readonly archives?: readonly (ArchiveMark | null)[];
}

export type KeyType = 'hash' | 'zset' | 'set' | 'list' | 'stream' | 'string';

/** The number of values that belong together: a field and its value; an entry's id, field and value. */
export const WIDTH: Readonly<Record<KeyType, number>> = {
  hash: 2,
  zset: 2,
  set: 1,
  list: 1,
  stream: 3,
  string: 1,
};

/** A part of one key; a large key has many parts. Bytes are base64. */
export interface BackupPiece {
  readonly key: string;
  readonly type: KeyType;
  /** hash: field, value...; zset: member, score...; set and list: members; stream: id, field, value...; string: the bytes. */
  readonly values: readonly string[];
  /** In the first piece: the milliseconds until the key expires, 0 for never. */
  readonly ttlMs?: number;
  /** In the last piece of a stream. */
  readonly lastId?: string;
  readonly added?: number;
}

export interface BackupSummary {
  readonly keys: number;
  readonly pieces: number;
  readonly sha256: string;
}

/** The file is not a complete backup; `message` has the reason. */
export class BadBackup extends Error {}

export interface BackupWriter {
  write(piece: BackupPiece): Promise<void>;
  /** Resolves when the whole file is on the disk under its name. */
  finish(keys: number): Promise<BackupSummary>;
  abandon(): Promise<void>;
}

/** Writes to another file and renames it at the end, so that the file under this name is always complete. */
export async function createBackupFile(file: string, header: BackupHeader): Promise<BackupWriter> {
  const partial = `${file}.partial`;
  const lines = new PassThrough();
  const target = createWriteStream(partial, { flags: 'wx', mode: 0o600 });
  await once(target, 'open');
  const written = pipeline(lines, createGzip({ level: 1 }), target);
  written.catch(() => undefined);
  const digest = createHash('sha256');
  let pieces = 0;

  async function line(value: unknown): Promise<void> {
    const text = `${JSON.stringify(value)}\n`;
    digest.update(text);
    if (!lines.write(text)) await Promise.race([once(lines, 'drain'), written]);
  }

  await line(header);
  return {
    async write(piece) {
      for (const part of partsOf(piece)) {
        pieces++;
        await line(part);
      }
    },
    async finish(keys) {
      const summary = { keys, pieces, sha256: digest.digest('hex') };
      lines.end(`${JSON.stringify({ end: summary })}\n`);
      await written;
      const handle = await open(partial, 'r');
      await handle.sync();
      await handle.close();
      await rename(partial, file);
      return summary;
    },
    async abandon() {
      lines.destroy();
      await written.catch(() => undefined);
      await rm(partial, { force: true });
    },
  };
}

/** Cuts a piece into lines of bounded length, but never a value, and never values that belong together. */
function partsOf(piece: BackupPiece): BackupPiece[] {
  const parts: string[][] = [];
  let room = 0;
  for (let i = 0; i < piece.values.length; i += WIDTH[piece.type]) {
    const together = piece.values.slice(i, i + WIDTH[piece.type]);
    const size = together.reduce((sum, text) => sum + text.length, 0);
    if (size > room) {
      parts.push([]);
      room = VALUES_MAX;
    }
    room -= size;
    parts.at(-1)?.push(...together);
  }
  if (parts.length < 2) return [piece];
  return parts.map((values) => ({ key: piece.key, type: piece.type, values }));
}

/** Reads a backup from the beginning, and checks the last line when it reaches it. Throws BadBackup. */
export async function* readBackupFile(
  file: string,
): AsyncGenerator<{ header: BackupHeader } | { piece: Record<string, unknown> } | { end: BackupSummary }> {
  const source = createReadStream(file);
  const gunzip = createGunzip();
  const joined = pipeline(source, gunzip);
  joined.catch(() => undefined);
  const digest = createHash('sha256');
  let [pieces, isWhole, isFirst] = [0, false, true];
  try {
    for await (const text of linesOf(gunzip)) {
      if (isWhole) throw new BadBackup('something follows its end');
      const value = parseLine(text);
      if ('end' in value && !isFirst) {
        checkEnd(value.end as BackupSummary, pieces, digest);
        isWhole = true;
        yield { end: value.end as BackupSummary };
        continue;
      }
      digest.update(`${text}\n`);
      if (isFirst) yield { header: headerOf(value) };
      else yield { piece: value };
      pieces += isFirst ? 0 : 1;
      isFirst = false;
    }
    await joined;
  } catch (error) {
    throw readError(error);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
  if (!isWhole) throw new BadBackup('it ends before its end: the file was cut');
}

/** A few bytes can unpack to any length, so at most one line is kept in memory. */
async function* linesOf(unpacked: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let [parts, size]: [Buffer[], number] = [[], 0];
  const keep = (part: Buffer): void => {
    size += part.length;
    if (size > LINE_MAX_BYTES) throw new BadBackup(`a line of it is longer than ${LINE_MAX_BYTES} bytes`);
    parts.push(part);
  };
  const taken = (): string => {
    const text = Buffer.concat(parts).toString('utf8');
    [parts, size] = [[], 0];
    return text;
  };
  for await (const chunk of unpacked) {
    let from = 0;
    for (let at = chunk.indexOf(END_OF_LINE); at >= 0; at = chunk.indexOf(END_OF_LINE, from)) {
      keep(chunk.subarray(from, at));
      yield taken();
      from = at + 1;
    }
    keep(chunk.subarray(from));
  }
  if (size > 0) yield taken();
}

function parseLine(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadBackup('a line of it is no object');
  return value as Record<string, unknown>;
}

function headerOf(value: Record<string, unknown>): BackupHeader {
  if (value.format !== BACKUP_FORMAT) throw new BadBackup('it is no backup of an exchange');
  if (value.version !== BACKUP_VERSION) {
    throw new BadBackup(`it has version ${String(value.version)}, and this program reads ${BACKUP_VERSION}`);
  }
  const { createdAt, chainId, exchange } = value;
  const isWhole =
    typeof createdAt === 'string' &&
    !Number.isNaN(Date.parse(createdAt)) &&
    Number.isSafeInteger(chainId) &&
    typeof exchange === 'string' &&
    [value.layout ?? 1, value.oldestLayout ?? 1].every(Number.isSafeInteger) &&
    (value.archive === undefined || isArchiveMark(value.archive)) &&
    isOfShards(value);
  if (!isWhole) throw new BadBackup('its first line does not say whose it is');
  return value as unknown as BackupHeader;
}

function isOfShards({ shards, archives }: Record<string, unknown>): boolean {
  if (shards === undefined) return archives === undefined;
  return (
    SHARD_COUNTS.some((count) => count > 1 && count === shards) &&
    Array.isArray(archives) &&
    archives.length === shards &&
    archives.every((mark) => mark === null || isArchiveMark(mark))
  );
}

function checkEnd(end: BackupSummary, pieces: number, digest: Hash): void {
  if (typeof end !== 'object' || end === null) throw new BadBackup('its last line does not say what it had');
  if (end.pieces !== pieces) throw new BadBackup(`it has ${pieces} pieces, and had ${end.pieces}`);
  if (end.sha256 !== digest.digest('hex')) throw new BadBackup('its checksum is another one: it was changed');
}

function readError(error: unknown): unknown {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (code.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new BadBackup('it cannot be unpacked: the file was cut or is none');
  }
  if (error instanceof SyntaxError) return new BadBackup('a line of it is no JSON');
  return error;
}
