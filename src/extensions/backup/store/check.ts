import { isBefore, NO_ENTRY } from '../../../store/redis/entry-id';
import type { Keys } from '../../../store/redis/keys';
import { type BackupPiece, BadBackup, type KeyType, WIDTH } from './file';
import { prefixOf, volatileKeys } from './keys';

const MEMBERS = new Set(['key', 'type', 'values', 'ttlMs', 'lastId', 'added']);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const ENTRY_ID = /^\d{1,16}-\d{1,16}$/;
const SCORE = /^-?(?:inf|\d{1,30}(?:\.\d{1,30})?(?:e[+-]\d{1,3})?)$/;

/** Checks the pieces of one file, in their order. */
export interface PieceCheck {
  /** Returns the piece if it may be written; throws BadBackup. */
  take(value: Readonly<Record<string, unknown>>): BackupPiece;
  keys(): number;
}

/**
 * The content that a backup may have, whichever program wrote it: keys of this exchange only, each once and of one type,
 * with values that Redis accepts. Anything that Redis would refuse is refused here, before data is deleted. The checksum
 * shows that a file is complete, but not who wrote it.
 */
export function createPieceCheck(shards: readonly Keys[]): PieceCheck {
  const prefixes = new Set(shards.map(({ prefix }) => prefix));
  const forbidden = new Set(shards.flatMap((keys) => [...volatileKeys(keys)]));
  // A restore writes these before the file, so with another type Redis would refuse what the file has.
  const types = new Map<string, KeyType>(
    shards.flatMap((keys): [string, KeyType][] => [
      [keys.mode, 'string'],
      [keys.notice, 'string'],
      [keys.shardCount, 'hash'],
    ]),
  );
  let [name, type, count]: [string, KeyType | null, number] = ['', null, 0];
  let [lastId, entries] = [NO_ENTRY, 0];

  /** Keys come in the order of their names, which reveals a repeated key. */
  function enter(next: string, nextType: KeyType): void {
    if (next === name && nextType === type) return;
    if (!prefixes.has(prefixOf(next)) || forbidden.has(next)) throw bad(next, 'is no key of an exchange');
    if ((types.get(next) ?? nextType) !== nextType) throw bad(next, `is no ${types.get(next)}`);
    if (next <= name) throw bad(next, 'comes twice, or not in its turn');
    [name, type, lastId, entries] = [next, nextType, NO_ENTRY, 0];
    count++;
  }

  function checkEntries(values: readonly Buffer[]): void {
    for (let i = 0; i < values.length; i += WIDTH.stream) {
      const id = String(values[i]);
      if (!ENTRY_ID.test(id) || !isBefore(lastId, id)) throw bad(name, 'has an entry out of its order');
      lastId = id;
      entries++;
    }
  }

  function checkEnd({ lastId: end, added }: BackupPiece): void {
    if (end === undefined && added === undefined) return;
    const fits =
      type === 'stream' && isId(end) && isCount(added) && !isBefore(end, lastId) && added >= entries;
    if (!fits) throw bad(name, 'has an end that does not fit');
  }

  return {
    keys: () => count,
    take: (value) => {
      const piece = shapeOf(value);
      enter(Buffer.from(piece.key, 'base64').toString('latin1'), piece.type);
      const values = piece.values.map((text) => Buffer.from(text, 'base64'));
      if (values.length % WIDTH[piece.type] !== 0) throw bad(name, 'has half a value');
      if (piece.type === 'stream') checkEntries(values);
      if (piece.type === 'zset' && values.some((score, i) => i % 2 === 1 && !SCORE.test(String(score)))) {
        throw bad(name, 'has a score that is no number');
      }
      checkEnd(piece);
      return piece;
    },
  };
}

const bad = (name: string, what: string): BadBackup =>
  new BadBackup(`${JSON.stringify(name.slice(0, 80))} ${what}`);

const isId = (value: unknown): value is string => typeof value === 'string' && ENTRY_ID.test(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function shapeOf(value: Readonly<Record<string, unknown>>): BackupPiece {
  const { key, type, values, ttlMs } = value;
  const isPiece =
    Object.keys(value).every((member) => MEMBERS.has(member)) &&
    isBase64(key) &&
    typeof type === 'string' &&
    Object.hasOwn(WIDTH, type) &&
    Array.isArray(values) &&
    values.every(isBase64) &&
    (ttlMs === undefined || isCount(ttlMs));
  if (!isPiece) throw new BadBackup('a line of it is no piece of a key');
  return value as unknown as BackupPiece;
}

const isBase64 = (value: unknown): boolean => typeof value === 'string' && BASE64.test(value);
