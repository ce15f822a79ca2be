import type { Extension } from '../../app/extensions';
import { addAudit } from './cli/commands';
import { auditEndpoints } from './routes/audit';
import { AUDIT_OPERATIONS } from './wire/operations';
import { AUDIT_SCHEMAS } from './wire/schemas';

/** Proof that everything stored follows from the orders. */
export const AUDIT: Extension = {
  name: 'audit',
  api: { operations: AUDIT_OPERATIONS, schemas: AUDIT_SCHEMAS },
  commands: addAudit,
  web: ({ store }) => ({ routes: (context) => auditEndpoints(store, context) }),
};
