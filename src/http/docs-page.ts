import { type RequestHandler, Router } from 'express';
import { serveFiles, setup } from 'swagger-ui-express';
import { Refusal } from '../exchange/errors';

/** Of the package's folder, what the page asks for. */
const ASSETS: ReadonlySet<string> = new Set([
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'swagger-ui-init.js',
  'favicon-16x16.png',
  'favicon-32x32.png',
]);

const OPTIONS = {
  // From the page, wherever it is mounted.
  swaggerUrl: '../openapi.json',
  customSiteTitle: 'CTF exchange: interface',
  customCss: '.swagger-ui .topbar { display: none }',
  swaggerOptions: {
    // Its default asks a server of Swagger's.
    validatorUrl: null,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
  },
};

/** The OpenAPI document to look at and to try out, for `/docs`. All of it comes from here: it works without a net. */
export function docsPage(): Router {
  const router = Router({ strict: true });
  const files = serveFiles(undefined, OPTIONS);
  router.all('/{*path}', onlyReads);
  router.get('/', redirectToFolder, setup(undefined, OPTIONS));
  router.get('/:name', onlyAssets, ...files);
  return router;
}

const onlyReads: RequestHandler = (request, response, next) => {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    throw new Refusal(
      'METHOD_NOT_ALLOWED',
      `${request.method} is not supported here; the Allow header lists the methods`,
    );
  }
  next();
};

/** Assets of the page have paths relative to it. */
const redirectToFolder: RequestHandler = (request, response, next) => {
  const [path = ''] = request.originalUrl.split('?');
  if (path.endsWith('/')) return next();
  response.statusCode = 308;
  response.setHeader('Location', `${path.slice(path.lastIndexOf('/') + 1)}/`);
  response.end();
};

const onlyAssets: RequestHandler = (request, response, next) => {
  if (!ASSETS.has(String(request.params.name))) throw new Refusal('NOT_FOUND');
  // A copy may be kept, and must be asked about each time.
  response.setHeader('Cache-Control', 'no-cache');
  next();
};
