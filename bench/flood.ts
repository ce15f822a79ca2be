import { openLoad } from './load';
import { cpuMicros, type Side } from './web-process';

/** Sends all requests, the last one first, as fast as they are answered; each must succeed. Returns the CPU microseconds of the process. */
export async function flood(side: Side, requests: Buffer[], connections: number): Promise<number> {
  const load = await openLoad(side.port, connections);
  try {
    const before = await cpuMicros(side);
    await load.flood(
      () => requests.pop() ?? null,
      (status, body) => {
        if (status !== 200) throw new Error(body());
      },
    );
    return (await cpuMicros(side)) - before;
  } finally {
    load.stop();
  }
}
