import { createHash } from 'node:crypto';
import { Refusal } from '../../exchange/errors';
import { SIGNATURE_TYPE_CONTRACT, SIGNATURE_TYPE_EOA } from '../../exchange/order';
import { formatLots, LOTS_MAX } from '../../exchange/units';
import { stuckOf, weaknessOf } from '../../store/health/durability';
import { upOf } from '../../store/health/health';
import { NotReplicated } from '../../store/redis/replicated';
import { isRedisUnreachable, redisReply } from '../../store/redis/unreachable';
import { asyncApiDocument } from '../../wire/documents/asyncapi/document';
import { openApiDocument } from '../../wire/documents/openapi/document';
import {
  BATCH_MAX_BYTES,
  BODY_MAX_BYTES,
  BYTES_PER_SUBMISSION,
  LIMITS,
  PACE,
  QUERY_MEMBERS_MAX,
  ROWS_PER_POINT,
  SOCKET_LIMITS,
  SUBMISSION_COSTS,
} from '../../wire/limits';
import { PATHS } from '../../wire/paths';
import { iso } from '../../wire/prices';
import { hasMember } from '../../wire/queries';
import { BATCH_ORDERS_MAX, CANCEL_HASHES_MAX } from '../../wire/requests/orders';
import type { Context } from '../context';
import { type AnyEndpoint, type Call, type Endpoint, ok, okJson, type Reply, read } from '../endpoint';
import { createOperatorAddresses } from '../guard/operator-addresses';
import { matchesEtag } from '../server/etag';
import { warningsOf } from '../warnings';

/** Whether the process is alive, whether it can serve, and how it is configured. */
export function systemEndpoints(context: Context): AnyEndpoint[] {
  const { config, reads, health, durability: checks, isDraining, exposeMetrics } = context;

  const startedAt = iso(reads.clock());

  /** Probes are not limited, because a busy address must not look like a dead process. */
  const probe = (path: string, handle: Endpoint<undefined>['handle']): Endpoint<undefined> => ({
    method: 'GET',
    path,
    bearer: 'none',
    body: null,
    handle,
  });

  /** It does not ask Redis: no other process answers better while Redis is away. */
  async function alive(): Promise<Reply> {
    const stuck = stuckOf(checks.refusedForMs());
    if (stuck !== null) throw new Refusal('UNAVAILABLE', stuck);
    return ok({ status: 'alive' });
  }

  const checkOperator = createOperatorAddresses(config);

  async function ready({ query, request }: Call<undefined>): Promise<Reply> {
    const isVerbose = hasMember(query, 'verbose');
    // As for the operators' own paths.
    if (isVerbose) checkOperator({ path: PATHS.metrics, ip: request.ip, headers: request.headers });
    if (isDraining()) throw new Refusal('UNAVAILABLE', 'this process is shutting down; use another replica');
    const {
      redis,
      scripts,
      standing: now,
      layout: data,
      archive,
      problem,
      shards,
    } = await health().catch((error) => {
      if (!isRedisUnreachable(error)) throw error;
      throw new Refusal(
        'UNAVAILABLE',
        error instanceof NotReplicated ? error.message : wordsFor(redisReply(error)),
      );
    });
    if (!redis || !scripts) {
      throw new Refusal('UNAVAILABLE', redis ? 'Redis does not run the scripts' : 'Redis did not respond');
    }
    const weakness = config.nodeEnv === 'production' && !config.allowWeakDurability ? weaknessOf(now) : null;
    if (weakness !== null)
      throw new Refusal('UNAVAILABLE', `Redis is not configured for production: ${weakness}`);
    if (problem !== null) throw new Refusal('UNAVAILABLE', problem);
    const { durability, replicaLagBytes, epoch } = now;
    const lag = durability === 'replicated' ? { replicaLagBytes } : {};
    const facts = {
      redis,
      scripts,
      archive,
      durability,
      ...lag,
      epoch,
      layout: data.layout,
      ...upOf(shards),
    };
    return ok({ status: 'ready', ...facts, ...(isVerbose && { warnings: await warningsOf(context) }) });
  }

  /** Made once for each mode of the exchange and each state of its data's standing. */
  async function settings(): Promise<Reply> {
    const { mode, message } = await reads.mode();
    const { durability, epoch } = checks.current() ?? (await health()).standing;
    const now = { mode, message, durability, epoch };
    const json = await reads.kept.answer({ of: 'config', stamp: JSON.stringify(now) }, '', async () => {
      const text = Buffer.from(JSON.stringify(configOf(context, now)));
      return { value: text, bytes: text.length };
    });
    return okJson(json);
  }

  return [
    probe(PATHS.livez, alive),
    probe(PATHS.readyz, ready),
    probe(PATHS.metrics, async () => ({ status: 200, text: await exposeMetrics() })),
    read(PATHS.version, async () =>
      ok({ ...context.program, durability: checks.current()?.durability ?? 'unknown', startedAt }),
    ),
    read(PATHS.time, async () => ok({ timestamp: Math.trunc(reads.clock()) })),
    read(
      PATHS.openapi,
      documentOf(() => openApiDocument(context.api)),
    ),
    read(
      PATHS.asyncapi,
      documentOf(() => asyncApiDocument(config.publicBaseUrl)),
    ),
    read(PATHS.config, settings),
  ];
}

function configOf({ config, ticket, facts, walletSignatures }: Context, now: object) {
  const isLimited = config.rateLimit;
  return {
    network: config.network,
    chainId: config.chainId,
    publicBaseUrl: config.publicBaseUrl,
    eip712: ticket.eip712,
    contracts: ticket.contracts,
    funds: config.funds,
    shards: config.shards,
    signatureTypes: walletSignatures ? [SIGNATURE_TYPE_EOA, SIGNATURE_TYPE_CONTRACT] : [SIGNATURE_TYPE_EOA],
    ...facts,
    ...now,
    limits: {
      ...SIZE_LIMITS,
      collateralDecimals: config.collateralDecimals,
      rates: isLimited ? RATES : null,
      costs: { ...SUBMISSION_COSTS, rowsPerPoint: ROWS_PER_POINT, bytesPerSubmission: BYTES_PER_SUBMISSION },
      pace: isLimited ? PACE : null,
      sockets: isLimited ? SOCKET_LIMITS : null,
    },
  };
}

/** Returns the reason why the store does not serve. */
function wordsFor(reply: string | null): string {
  if (reply === null) return 'Redis did not respond';
  const why =
    reply === 'TRYAGAIN'
      ? ': the slot of the book is moving to another node; no script runs until the move is complete'
      : '';
  return `Redis answers ${reply}${why}`;
}

/** A document of the interface, turned into text once. Pages of other sites may load it. */
function documentOf(document: () => unknown): Endpoint<undefined>['handle'] {
  let made: { readonly json: Buffer; readonly etag: string } | undefined;
  return async ({ request }) => {
    if (!made) {
      const json = Buffer.from(JSON.stringify(document()));
      made = { json, etag: `"${createHash('sha256').update(json).digest('base64url').slice(0, 16)}"` };
    }
    const { json, etag } = made;
    const headers = {
      ETag: etag,
      'Cache-Control': 'public, max-age=300',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    };
    if (matchesEtag(request.headers['if-none-match'], etag)) return { status: 304, headers };
    return { status: 200, json, headers };
  };
}

const SIZE_LIMITS = {
  bodyBytes: BODY_MAX_BYTES,
  batchBytes: BATCH_MAX_BYTES,
  batchOrders: BATCH_ORDERS_MAX,
  cancelHashes: CANCEL_HASHES_MAX,
  maxOrderSize: formatLots(LOTS_MAX),
  queryMembers: QUERY_MEMBERS_MAX,
};

/** Requests in a number of seconds, and the burst that is allowed after a pause. */
const RATES = Object.fromEntries(
  Object.entries(LIMITS).map(([name, { points, durationSec, burst, by }]) => [
    name,
    { requests: points, seconds: durationSec, burst: points + burst, by },
  ]),
);
