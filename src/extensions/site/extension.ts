import type { Extension } from '../../app/extension';
import { udfEndpoints } from './routes/udf';
import { UDF_COSTS } from './wire/costs';
import { UDF_OPERATIONS } from './wire/operations';
import { UDF_SCHEMAS } from './wire/schemas';

/** What the exchange serves for browsers and charts. */
export const SITE: Extension = {
  name: 'site',
  api: {
    operations: UDF_OPERATIONS,
    schemas: UDF_SCHEMAS,
    costs: UDF_COSTS,
    tags: { Charts: "TradingView's Universal Data Feed over the candles." },
  },
  web: () => ({ routes: udfEndpoints }),
};
