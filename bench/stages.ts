/** Assigns frames of a CPU profile to the stages of a submission. */
export type Stage = (typeof STAGES)[number];

export const STAGES = [
  'HTTP: socket read, parse',
  'Express: router, middleware',
  'headers: ids, security, CORS',
  'body: read, JSON',
  'shape of the body',
  'terms, ticks, amounts',
  'canonical hash (EIP-712)',
  'recover the signer',
  'pack and unpack records',
  'Redis client: write, parse, wait',
  'answer: present, JSON',
  'HTTP: headers out, socket write',
  'metrics, limits, deadlines',
  'broadcasting, timers',
  'garbage collection',
  'Node itself, not told apart',
] as const;

export interface Frame {
  readonly functionName: string;
  readonly url: string;
}

type Rule = readonly [stage: Stage, url: RegExp, name?: RegExp];

/**
 * Asked from the innermost frame outwards; the first that knows its stage decides. Frames of Node itself mostly serve
 * their caller, so, except for the sending of an answer, they decide only when no frame of the exchange did.
 */
const OWNERS: readonly Rule[] = [
  [
    'HTTP: headers out, socket write',
    /^node:_http_(outgoing|server)/,
    /^(end|write_|writeHead|_send|_storeHeader|_writeRaw|_flushOutput|_implicitHeader|processHeader|storeHeader|matchHeader)/,
  ],
  ['recover the signer', /\/src\/auth\/(recovery|signature|system-secp256k1)|\/(secp256k1|koffi)\//],
  ['recover the signer', /\/src\/auth\/order-signature/, /^(verify|recover)/],
  ['recover the signer', /./, /^ecdsaRecover$/],
  ['recover the signer', /^$/, /^ecdsaRecover$/],
  ['canonical hash (EIP-712)', /\/src\/auth\/(order-hash|keccak|order-signature)|hash-wasm/],
  ['canonical hash (EIP-712)', /wasm/],
  ['body: read, JSON', /\/src\/http\/body|\/src\/wire\/json|\/body-parser\/|\/raw-body\//],
  [
    'shape of the body',
    /\/src\/wire\/(shape|compiled|requests)|\/(joi|ajv)\/|\/@hapi\/|\/@standard-schema\//,
  ],
  ['shape of the body', /^$/, /^validate\d+$/],
  ['terms, ticks, amounts', /\/src\/(exchange|auth\/address)|\/src\/http\/submit/],
  ['pack and unpack records', /\/src\/store\/(records\/|verbs\/place)/],
  [
    'Redis client: write, parse, wait',
    /\/src\/store\/redis\/|\/ioredis\/|\/redis-parser\/|\/standard-as-callback\//,
  ],
  ['answer: present, JSON', /\/src\/wire\/(answers|prices|facts)/],
  ['HTTP: headers out, socket write', /\/src\/http\/answer/],
  ['headers: ids, security, CORS', /\/helmet\/|\/cors\/|\/vary\/|\/object-assign\//],
  ['headers: ids, security, CORS', /\/src\/http\/application/],
  [
    'broadcasting, timers',
    /\/src\/realtime\/|\/socket\.io|\/engine\.io|\/src\/store\/outbox\/(?!backlog)|\/ws\//,
  ],
  [
    'metrics, limits, deadlines',
    /\/src\/(metrics|app\/observe|store\/outbox\/backlog|http\/(limiter|allowance|shedding))|\/prom-client\//,
  ],
  [
    'Express: router, middleware',
    /\/express\/|\/router\/|\/path-to-regexp\/|\/finalhandler\/|\/parseurl\/|\/src\/http\/|\/bench\/plain/,
  ],
];

const OF_NODE: readonly Rule[] = [
  ['garbage collection', /^$/, /^\(garbage collector\)$/],
  [
    'HTTP: headers out, socket write',
    /^$|^node:/,
    /^(writev?|writeBuffer|write(Utf8|Latin1)String|writev?Generic|clearBuffer|_write.*)$/,
  ],
  [
    'HTTP: headers out, socket write',
    /^node:_http_outgoing|^node:_http_server/,
    /^(write|end|_|setHeader|resOn|storeHeader|statusCode)/,
  ],
  ['HTTP: socket read, parse', /^node:(_http_|internal\/http|internal\/stream_base_commons|net)/],
  ['HTTP: socket read, parse', /^node:internal\/streams/],
  ['broadcasting, timers', /^node:internal\/timers/],
];

/** `stack` from the innermost frame to the outermost. */
export function stageOf(stack: readonly Frame[]): Stage {
  for (const rules of [OWNERS, OF_NODE]) {
    for (const frame of stack) {
      const rule = rules.find(
        ([, url, name]) => url.test(frame.url) && (name?.test(frame.functionName) ?? true),
      );
      if (rule) return rule[0];
    }
  }
  return 'Node itself, not told apart';
}

export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: Frame;
    readonly children?: readonly number[];
  }[];
  /** Microseconds of the monotonic clock. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Microseconds of each stage between two moments, and of each frame without a stage. Idle time does not count. */
export function timesOf(profile: CpuProfile, fromMicros = 0, toMicros = Number.POSITIVE_INFINITY) {
  const parents = new Map<number, number>();
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  for (const { id, children } of profile.nodes) for (const child of children ?? []) parents.set(child, id);
  const stages = new Map<number, Stage | null>();
  const stageOfNode = (id: number): Stage | null => {
    const known = stages.get(id);
    if (known !== undefined) return known;
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at);
      if (frame) stack.push(frame);
    }
    const stage = stack[0]?.functionName === '(idle)' ? null : stageOf(stack);
    stages.set(id, stage);
    return stage;
  };
  const times = new Map<Stage, number>(STAGES.map((stage) => [stage, 0]));
  const frameTimes = new Map<string, number>();
  let atMicros = profile.startTime;
  for (const [i, id] of profile.samples.entries()) {
    const micros = profile.timeDeltas[i] ?? 0;
    atMicros += micros;
    const stage = stageOfNode(id);
    if (stage === null || atMicros < fromMicros || atMicros > toMicros) continue;
    times.set(stage, (times.get(stage) ?? 0) + micros);
    const frame = frames.get(id);
    const name = `${stage} | ${frame?.functionName || '(anonymous)'} ${frame?.url.split('/').slice(-2).join('/')}`;
    frameTimes.set(name, (frameTimes.get(name) ?? 0) + micros);
  }
  return { times, frameTimes };
}
