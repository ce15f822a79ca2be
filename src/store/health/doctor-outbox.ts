import { BACKLOG_MAX } from '../outbox/backlog';
import { createOutboxLag } from '../outbox/lag';
import type { Check, DoctorOptions } from './doctor';

const BACKLOG_WARN = BACKLOG_MAX / 5;
/** A running reader is never this far behind. */
const LAG_WARN_SEC = 30;

/** Checks the backlog of the slowest reader of the outbox: beyond BACKLOG_MAX new orders are refused. */
export async function outbox(
  { redis, keys, readers: names }: Pick<DoctorOptions, 'redis' | 'keys' | 'readers'>,
  nowMs: number,
): Promise<Check> {
  const { length, readers } = await createOutboxLag({ redis, keys, readers: names, now: () => nowMs }).look();
  const most = Math.max(0, ...readers.map(({ unprocessed }) => unprocessed));
  const slowest = readers.find(({ unprocessed }) => unprocessed === most)?.reader;
  const late = readers.find(({ reader, seconds }) => reader === 'settlement' && seconds > LAG_WARN_SEC);
  const verdict = most > BACKLOG_MAX ? 'fail' : most > BACKLOG_WARN || late ? 'warn' : 'ok';
  const idle = late ? `; settlement has stood for ${Math.round(late.seconds)} s: does a worker run?` : '';
  const who = most === 0 ? 'every reader has finished' : `${slowest} is ${most} behind${idle}`;
  return { name: 'outbox', verdict, detail: `${length} entries kept, ${who}` };
}
