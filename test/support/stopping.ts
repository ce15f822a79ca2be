/**
 * Ends several things at once. All of them are ended, whatever fails: a server that outlives its test keeps the run from
 * ending. Rejects with the first failure afterwards.
 */
export async function stopAll(...stops: readonly (() => unknown)[]): Promise<void> {
  const ended = await Promise.allSettled(stops.map(async (stop) => stop()));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
