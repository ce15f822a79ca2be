import { checksumAddress } from '../../auth/address';
import { Refusal } from '../../exchange/errors';
import { AuditTooLarge } from '../../store/audit/audit';
import { OutboxLost } from '../../store/audit/changes';
import { presentAudit } from '../../wire/answers/audit';
import { PATHS } from '../../wire/paths';
import { ok, type Reply } from '../answer';
import type { Context } from '../context';
import { type AnyEndpoint, type Call, read } from '../endpoint';
import { recordAudit } from '../recorded';

/** An audit of a million orders takes about a minute; without Redis it ends at once. */
const AUDIT_MAX_MS = 120_000;

/** Checks for the operator that all derived data follows from the orders. */
export function auditEndpoints({ audit, actions, log }: Context): AnyEndpoint[] {
  async function report(call: Call<undefined>): Promise<Reply> {
    try {
      const found = await audit();
      const result = { ok: found.ok, differences: found.differences.length };
      await recordAudit({ actions, log }, `GET ${PATHS.adminAudit}`, call, result);
      return ok(presentAudit(found, checksumAddress));
    } catch (error) {
      if (error instanceof OutboxLost || error instanceof AuditTooLarge)
        throw new Refusal('UNAVAILABLE', error.message);
      throw error;
    }
  }
  return [{ ...read(PATHS.adminAudit, report, 'admin'), answerMaxMs: AUDIT_MAX_MS }];
}
