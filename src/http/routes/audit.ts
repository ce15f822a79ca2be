import { checksumAddress } from '../../auth/address';
import { Refusal } from '../../exchange/errors';
import { AuditTooLarge } from '../../store/audit/audit';
import { OutboxLost } from '../../store/audit/changes';
import { presentAudit } from '../../wire/answers/audit';
import { PATHS } from '../../wire/paths';
import { ok, type Reply } from '../answer';
import type { Context } from '../context';
import { type AnyEndpoint, read } from '../endpoint';

/** An audit of a million orders takes about a minute; without Redis it ends at once. */
const AUDIT_MAX_MS = 120_000;

/** Checks for the operator that all derived data follows from the orders. */
export function auditEndpoints({ audit }: Context): AnyEndpoint[] {
  async function report(): Promise<Reply> {
    try {
      return ok(presentAudit(await audit(), checksumAddress));
    } catch (error) {
      if (error instanceof OutboxLost || error instanceof AuditTooLarge)
        throw new Refusal('UNAVAILABLE', error.message);
      throw error;
    }
  }
  return [{ ...read(PATHS.adminAudit, report, 'admin'), answerMaxMs: AUDIT_MAX_MS }];
}
