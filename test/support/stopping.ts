/**
 * Ends several things at once. It ends all of them despite failures, because a server that outlives its test keeps the run
 * from ending. Afterwards it rejects with the first failure.
 */
export async function stopAll(...stops: readonly (() => unknown)[]): Promise<void> {
  const ended = await Promise.allSettled(stops.map(async (stop) => stop()));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
