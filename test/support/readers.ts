import { JOURNAL } from '../../src/extensions/portfolio/store/journal';
import { CORE_READERS } from '../../src/store/outbox/outbox';

/** The readers of the outbox of an exchange with every extension. */
export const READERS: readonly string[] = [...CORE_READERS, JOURNAL];
