import { setTimeout as sleep } from 'node:timers/promises';
import type { Archive } from '../../exchange/archive';

/** A probe or a scrape waits no longer. */
const ANSWER_MAX_MS = 500;

/** Whether the archive answers now; null without one. Nothing that trades needs it. */
export async function archiveAnswers(archive: Pick<Archive, 'state'> | null): Promise<boolean | null> {
  if (!archive) return null;
  const answer = archive.state().then(
    () => true,
    () => false,
  );
  return Promise.race([answer, sleep(ANSWER_MAX_MS, false, { ref: false })]);
}
