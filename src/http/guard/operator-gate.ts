import type { Request, Response } from 'express';
import { Refusal } from '../../exchange/errors';
import type { Logger } from '../../log';
import { checkAdmin } from './bearer';
import { clientAddress } from './client-address';
import type { Limiter } from './limiter';

/** Admits the operator. `judge` throws for other callers; by default it checks the bearer. */
export type OperatorGate = (request: Request, response: Response, judge?: () => void) => Promise<void>;

interface GateOptions {
  readonly limiter: Limiter;
  readonly log: Logger;
  /** Without a token the admin routes do not exist. */
  readonly adminTokens: readonly string[] | null;
}

const BUCKET = 'admin-tokens';

/** An address that guesses too often is refused, and does not learn whether a guess was right. */
export function createOperatorGate({ limiter, log, adminTokens }: GateOptions): OperatorGate {
  return async (request, response, judge) => {
    if (adminTokens === null) throw new Refusal('NOT_FOUND');
    const address = clientAddress(request);
    await limiter.learn(BUCKET, address);
    // There is no await from here to the charge, so concurrent guesses are counted one by one.
    limiter.spend(BUCKET, address, response, 0);
    try {
      (judge ?? (() => checkAdmin(request, adminTokens)))();
    } catch (error) {
      if (request.headers.authorization !== undefined) {
        limiter.charge(BUCKET, address, 1);
        log.warn({ address, method: request.method, path: request.path }, 'a wrong admin token');
      }
      throw error;
    }
  };
}
