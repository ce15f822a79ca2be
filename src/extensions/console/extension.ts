import type { RequestHandler } from 'express';
import type { Extension } from '../../app/extensions';
import type { Context } from '../../http/context';
import { logPageActions } from '../../http/server/operators-log';
import { partAt } from '../../store/lists/list';
import { previewEnding } from '../../store/markets/ending-preview';
import { createBoard } from './board';
import { boardGuard } from './board-guard';
import { type ConsoleReads, consoleEndpoints } from './routes/console';
import { createOverview } from './store/overview';
import { CONSOLE_OPERATIONS } from './wire/operations';
import { CONSOLE_PATHS } from './wire/paths';
import { CONSOLE_SCHEMAS } from './wire/schemas';

/** The board's page names a font of another site, which would learn who operates the exchange. */
const BOARD_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

const ownOnly: RequestHandler = (_request, response, next) => {
  response.setHeader('Content-Security-Policy', BOARD_POLICY);
  next();
};

/** What the operator's page reads, and the board of the queues. */
export const CONSOLE: Extension = {
  name: 'console',
  api: { operations: CONSOLE_OPERATIONS, schemas: CONSOLE_SCHEMAS },
  web({ store, replicas }) {
    const { config, log, redis, clock, actions, partitions, placement } = store;
    const { adminTokens, publicBaseUrl } = config;
    const reads = {
      replicas,
      overview: createOverview({ ...store, now: clock.now }),
      previewEnding: async (...[id, outcome]: Parameters<ConsoleReads['previewEnding']>) =>
        previewEnding({ redis, keys: partAt(partitions, await placement.partitionOf(id)).keys }, id, outcome),
    };
    const routes = (context: Context) => consoleEndpoints(context, reads);
    if (adminTokens === null) return { routes };
    const board = createBoard({
      connection: redis,
      queues: store.queues,
      basePath: CONSOLE_PATHS.queues,
      onError: (error) => log.warn({ err: error.message }, 'board'),
    });
    return {
      routes,
      pages(app, { gate }) {
        const guard = boardGuard(adminTokens, publicBaseUrl, gate);
        app.use(CONSOLE_PATHS.queues, guard, logPageActions(actions, log), ownOnly, board.handler);
      },
      stop: board.stop,
    };
  },
};
