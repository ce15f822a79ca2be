import { io, type Socket } from 'socket.io-client';

const SOCKETS = 50;

/** Sockets that follow a market. */
export function createCrowd(port: number) {
  const sockets: Socket[] = [];
  const join = async (conditionId: string): Promise<void> => {
    const socket = io(`http://127.0.0.1:${port}`, {
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
    });
    sockets.push(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', reject);
    });
    const answer = (await socket.timeout(10_000).emitWithAck('subscribe', { conditionId })) as {
      ok: boolean;
    };
    if (!answer.ok) throw new Error('not subscribed');
  };
  return {
    async fill(conditionId: string): Promise<void> {
      for (let n = 0; n < SOCKETS; n++) await join(conditionId);
    },
    async replaceOne(conditionId: string): Promise<void> {
      sockets.shift()?.disconnect();
      await join(conditionId);
    },
    leave(): void {
      for (const socket of sockets) socket.disconnect();
    },
  };
}
