import { createCancels } from './cancels';
import { createContext, type RouteDeps } from './context';
import type { AnyEndpoint } from './endpoint';
import { createKeptAnswers } from './kept-answers';
import { recorded } from './recorded';
import { adminEndpoints } from './routes/admin';
import { authEndpoints } from './routes/auth';
import { bookEndpoints } from './routes/books';
import { cancelEndpoints } from './routes/cancels';
import { journalEndpoints } from './routes/journal';
import { logEndpoints } from './routes/log';
import { marketEndpoints } from './routes/markets';
import { meEndpoints } from './routes/me';
import { orderReadEndpoints } from './routes/order-reads';
import { orderEndpoints } from './routes/orders';
import { portfolioEndpoints } from './routes/portfolio';
import { settlementEndpoints } from './routes/settlements';
import { systemEndpoints } from './routes/system';
import { createSubmit } from './submit';

/** Every operation of the core and the extensions. */
export function createEndpoints(deps: RouteDeps): AnyEndpoint[] {
  const context = createContext(deps);
  const submit = createSubmit(context);
  const cancels = createCancels(context);
  const kept = createKeptAnswers(context);
  return [
    ...orderEndpoints(context, submit),
    ...orderReadEndpoints(context, kept),
    ...cancelEndpoints(context, cancels),
    ...bookEndpoints(context, kept),
    ...marketEndpoints(context, kept),
    ...meEndpoints(context),
    ...journalEndpoints(context),
    ...portfolioEndpoints(context),
    ...authEndpoints(context),
    ...adminEndpoints(context),
    ...settlementEndpoints(context),
    ...systemEndpoints(context),
    ...logEndpoints(context),
    ...deps.extensions.flatMap((extension) => extension.routes?.(context, kept) ?? []),
  ].map((endpoint) => recorded(endpoint, deps.actions, deps.log));
}
