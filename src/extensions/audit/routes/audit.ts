import { checksumAddress } from '../../../auth/address';
import { Refusal } from '../../../exchange/errors';
import type { Context } from '../../../http/context';
import { type AnyEndpoint, type Call, ok, type Reply, read } from '../../../http/endpoint';
import { actionOf, type RecordedRequest } from '../../../http/server/operators-log';
import { type Audit, AuditTooLarge } from '../../../store/audit/audit';
import { OutboxLost } from '../../../store/audit/changes';
import { noteRun } from '../../../store/health/runs';
import type { Clock } from '../../../store/redis/clock';
import { presentAudit } from '../../../wire/answers/audit';
import { AUDIT_PATH } from '../wire/operations';

/** An audit of a million orders takes about a minute; without Redis it ends at once. */
const AUDIT_MAX_MS = 120_000;

type AuditDeps = Parameters<typeof noteRun>[0] & { readonly audit: Audit; readonly clock: Clock };

/** Checks for the operator that all derived data follows from the orders. */
export function auditEndpoints({ audit, ...store }: AuditDeps, { actions, log }: Context): AnyEndpoint[] {
  async function report(call: Call<undefined>): Promise<Reply> {
    try {
      const found = await audit();
      const result = { ok: found.ok, differences: found.differences.length };
      // The doctor and the metrics know it as they know one of the command line.
      await noteRun(store, 'audit', found.ok, store.clock.now()).catch(() => undefined);
      await recordAudit({ actions, log }, `GET ${AUDIT_PATH}`, call, result);
      return ok(presentAudit(found, checksumAddress));
    } catch (error) {
      if (error instanceof OutboxLost || error instanceof AuditTooLarge)
        throw new Refusal('UNAVAILABLE', error.message);
      throw error;
    }
  }
  return [{ ...read(AUDIT_PATH, report, 'admin'), answerMaxMs: AUDIT_MAX_MS }];
}

/** An audit changes nothing; its entry says who ran it, and its result in the place of a body. */
async function recordAudit(
  { actions, log }: Pick<Context, 'actions' | 'log'>,
  action: string,
  { request, response }: Pick<RecordedRequest, 'request' | 'response'>,
  result: { readonly ok: boolean; readonly differences: number },
): Promise<void> {
  const entry = actionOf(action, request.path, { request, response, body: result });
  await actions.note({ ...entry, status: 200 }).catch((error: unknown) => {
    // A Redis that takes no writes is a reason for an audit, and none to keep its result back.
    log.warn(
      { err: String(error), requestId: entry.requestId },
      'the operators’ log has no entry of an audit',
    );
  });
}
