import { type RequestHandler, Router } from 'express';
import { Refusal } from '../../exchange/errors';
import { answer, type StaticFiles } from './static-files';

/**
 * The interactive OpenAPI document at `/docs`. `npm run build` copies its files, so it works without internet access, and a
 * production installation needs no package for it.
 */
export function docsPage(files: StaticFiles): Router {
  const router = Router({ strict: true });
  router.all('/{*path}', onlyReads);
  router.get('/', redirectToFolder);
  for (const [url, file] of files) router.get(url, answer(file));
  return router;
}

const onlyReads: RequestHandler = (request, response, next) => {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    throw new Refusal('METHOD_NOT_ALLOWED', `${request.method} is not allowed here; use GET`);
  }
  next();
};

/** The page refers to its assets by relative paths. */
const redirectToFolder: RequestHandler = (request, response, next) => {
  const [path = ''] = request.originalUrl.split('?');
  if (path.endsWith('/')) return next();
  response.statusCode = 308;
  response.setHeader('Location', `${path.slice(path.lastIndexOf('/') + 1)}/`);
  response.end();
};
