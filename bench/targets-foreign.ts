import type { ForeignRow } from './foreign';
import { atMost, type Line, lineOf } from './line';

const FOREIGN_MICROS = 0.2;

const WHO = {
  idle: 'a web process without sockets',
  elsewhere: 'a web process with a socket of another market and one of another wallet',
  broadcaster: 'the web process that broadcasts',
  redis: 'Redis',
} as const;

export const foreignLines = (rows: readonly ForeignRow[]): Line[] =>
  rows.map(({ op, cpuMicrosPerOrder, quietMicrosPerOrder, readBytesPerOrder }) =>
    lineOf({
      suite: 'foreign',
      what: `an order costs ${WHO[op]}`,
      figure: cpuMicrosPerOrder,
      unit: 'us CPU',
      baseline: `above what it spends without orders (${quietMicrosPerOrder}); it reads ${readBytesPerOrder ?? 'no counted'} bytes more`,
      ...((op === 'idle' || op === 'elsewhere') && { target: atMost(FOREIGN_MICROS) }),
    }),
  );
