import type { Express } from 'express';
import type { Context } from './context';
import type { AnyEndpoint } from './endpoint';
import type { KeptAnswers } from './kept-answers';
import type { Limiter } from './limiter';
import type { OperatorGate } from './operator-gate';

/** What an extension adds to a web process. */
export interface WebPart {
  /** Its endpoints, each of which is an operation of its part of the interface. */
  routes?(context: Context, kept: KeptAnswers): readonly AnyEndpoint[];
  /** Adds pages that are not operations. */
  pages?(app: Express, guards: PageGuards): void;
  stop?(): Promise<void>;
}

export interface PageGuards {
  readonly limiter: Limiter;
  readonly gate: OperatorGate;
}
