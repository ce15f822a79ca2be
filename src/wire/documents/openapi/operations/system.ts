import {
  BYTES_PER_SUBMISSION,
  PACE,
  QUERY_MEMBERS_MAX,
  ROWS_PER_POINT,
  SOCKET_LIMITS,
  SUBMISSION_COSTS,
} from '../../../limits';
import { PATHS } from '../../../paths';
import { CONTRACTS, EIP712 } from '../examples/market';
import { LISTED_AT, MATCHED_MS } from '../examples/story';
import { type Operations, query } from '../operation';
import { choice } from '../schema';

export const SYSTEM_OPERATIONS: Operations = {
  [`GET ${PATHS.livez}`]: {
    id: 'isAlive',
    tag: 'System',
    summary: 'Liveness of the process',
    description:
      'A probe for the platform: restart the process when it does not answer, or answers 503, as after Redis has refused its writes as a replica for two minutes. An unreachable Redis is no reason. No rate limit applies.',
    success: { description: 'The process is alive.', schema: 'Alive', example: { status: 'alive' } },
  },
  [`GET ${PATHS.readyz}`]: {
    id: 'isReady',
    tag: 'System',
    summary: 'Readiness of the process',
    description:
      'A probe for the load balancer: Redis answers, the scripts run, and the process is not stopping. On a cluster it answers 503 while the slot of the book moves. No rate limit applies. With `verbose` it has what needs an operator, as `GET /admin/overview` has it, and only the addresses of OPERATOR_ADDRESSES are served.',
    parameters: [query('verbose', 'Also `warnings`; it needs no value.', choice(['', 'true']), 'true')],
    codes: ['NOT_FOUND'],
    success: {
      description: 'The process can serve requests.',
      schema: 'Ready',
      example: {
        status: 'ready',
        redis: true,
        scripts: true,
        archive: true,
        durability: 'always',
        epoch: '9f2b11c07d3e4a58',
        layout: 3,
      },
    },
  },
  [`GET ${PATHS.metrics}`]: {
    id: 'getMetrics',
    tag: 'System',
    summary: 'Metrics for Prometheus',
    description:
      'The metrics in the text format of Prometheus; docs/run/metrics.md explains each. No rate limit applies. Only the addresses of OPERATOR_ADDRESSES are served.',
    codes: ['NOT_FOUND'],
    success: {
      description: 'The metrics.',
      schema: 'Metrics',
      mediaType: 'text/plain',
      example:
        '# HELP exchange_sockets Open sockets of this process\n# TYPE exchange_sockets gauge\nexchange_sockets 2\n',
    },
  },
  [`GET ${PATHS.time}`]: {
    id: 'getTime',
    tag: 'System',
    summary: 'The clock of the exchange',
    description:
      'The clock of Redis, by which orders expire and deadlines pass. The `Date` header uses the same clock.',
    limited: true,
    success: { description: 'The current time.', schema: 'ServerTime', example: { timestamp: MATCHED_MS } },
  },
  [`GET ${PATHS.version}`]: {
    id: 'getVersion',
    tag: 'System',
    summary: 'Version of the program',
    description:
      'The version of the process that answers; during an upgrade the processes may differ. `layout` is the number of the storage format of the program; `GET /readyz` returns that of the data.',
    limited: true,
    success: {
      description: 'The program.',
      schema: 'Version',
      example: {
        version: '0.1.0',
        commit: '3c7ef2380e3f6d3c0fb4ee1ea1b5f1d5a3bdf0c1',
        layout: 3,
        durability: 'always',
        startedAt: LISTED_AT,
      },
    },
  },
  [`GET ${PATHS.config}`]: {
    id: 'getConfig',
    tag: 'System',
    summary: 'Network, contracts, mode and limits',
    description: 'The network, the EIP-712 domain, the contracts, the mode, the durability and the limits.',
    limited: true,
    success: {
      description: 'The configuration.',
      schema: 'Config',
      example: {
        network: 'testnet',
        chainId: 97,
        publicBaseUrl: 'http://localhost:3000',
        eip712: EIP712,
        contracts: CONTRACTS,
        funds: 'paper',
        shards: 1,
        signatureTypes: [0],
        mode: 'NORMAL',
        message: null,
        durability: 'always',
        epoch: '9f2b11c07d3e4a58',
        limits: {
          bodyBytes: 16_384,
          batchBytes: 262_144,
          batchOrders: 20,
          cancelHashes: 100,
          maxOrderSize: '1000000000',
          collateralDecimals: 18,
          rates: { reads: { requests: 100, seconds: 1, burst: 100, by: 'ip' } },
          costs: {
            ...SUBMISSION_COSTS,
            rowsPerPoint: ROWS_PER_POINT,
            bytesPerSubmission: BYTES_PER_SUBMISSION,
          },
          pace: PACE,
          sockets: SOCKET_LIMITS,
          queryMembers: QUERY_MEMBERS_MAX,
        },
      },
    },
  },
  [`GET ${PATHS.openapi}`]: {
    id: 'getOpenApi',
    tag: 'System',
    summary: 'This document',
    description: 'OpenAPI 3.1, made from the running code.',
    limited: true,
    success: {
      description: 'The document.',
      schema: 'OpenApiDocument',
      headers: ['ETag'],
      example: {
        openapi: '3.1.0',
        info: { title: 'CTF exchange', version: '0.1.0' },
        servers: [],
        tags: [],
        paths: {},
        components: {},
      },
    },
    also: { 304: 'The document has not changed.' },
  },
  [`GET ${PATHS.asyncapi}`]: {
    id: 'getAsyncApi',
    tag: 'System',
    summary: 'The socket interface',
    description: 'AsyncAPI 3.0, made from the running code.',
    limited: true,
    success: {
      description: 'The document.',
      schema: 'AsyncApiDocument',
      headers: ['ETag'],
      example: {
        asyncapi: '3.0.0',
        info: { title: 'CTF exchange, live', version: '0.1.0' },
        defaultContentType: 'application/json',
        servers: {},
        channels: {},
        operations: {},
        components: {},
      },
    },
    also: { 304: 'The document has not changed.' },
  },
};
