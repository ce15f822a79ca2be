import { checkPositions } from '../../src/extensions/portfolio/store/check-positions';
import * as core from '../../src/store/audit/audit';

/** The audit of an exchange with every extension. */
export const createAudit = (options: core.AuditOptions): core.Audit =>
  core.createAudit({ ...options, auditChecks: [checkPositions] });
