import path from 'node:path';
import type { Extension } from '../../app/extensions';
import { loadFiles } from '../../http/server/static-files';
import { createCardDrawing } from './card-drawing';
import { serveCards } from './cards';
import { servePage } from './page';
import { pageNotFound, servePageLinks } from './page-links';
import { udfEndpoints } from './routes/udf';
import { PAGE_COSTS, UDF_COSTS } from './wire/costs';
import { UDF_OPERATIONS } from './wire/operations';
import { UDF_SCHEMAS } from './wire/schemas';

/** The build of src/page; the same folder for the sources and for dist. */
const PAGE_FOLDER = path.join(__dirname, '../../../dist/page');
const CARD_FONT = path.join(__dirname, '../../../dist/fonts/inter-600.ttf');
/** The address of the operator's page. */
const ADDRESSES = { '/operate.html': '/operate' };

/** The trading page with its links and pictures, and the feed of TradingView's charts. */
export const SITE: Extension = {
  name: 'site',
  api: {
    operations: UDF_OPERATIONS,
    schemas: UDF_SCHEMAS,
    costs: UDF_COSTS,
    tags: { Charts: "TradingView's Universal Data Feed over the candles." },
    pageCosts: PAGE_COSTS,
  },
  web({ store: { config, marketList, reads } }) {
    if (!config.serveUi) return { routes: udfEndpoints };
    const page = loadFiles(PAGE_FOLDER, ADDRESSES);
    const drawCard = createCardDrawing(CARD_FONT);
    const site = { page, marketList, config, hasCards: drawCard !== null };
    return {
      routes: udfEndpoints,
      pages(app, { limiter }) {
        servePage(app, page, config);
        servePageLinks(app, site, limiter);
        if (drawCard !== null) serveCards(app, { marketList, reads, drawCard }, limiter);
        // Last, because it answers every request that wants a page.
        app.use(pageNotFound(site));
      },
    };
  },
};
