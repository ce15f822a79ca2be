import { type RequestHandler, Router } from 'express';
import { Refusal } from '../exchange/errors';
import { answer, type PageFiles } from './page';

/**
 * The OpenAPI document to look at and to try out, for `/docs`. All of it comes from here, as `npm run build` copied it: it
 * works without a net, and an installation for production needs no package for it.
 */
export function docsPage(files: PageFiles): Router {
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

/** Assets of the page have paths relative to it. */
const redirectToFolder: RequestHandler = (request, response, next) => {
  const [path = ''] = request.originalUrl.split('?');
  if (path.endsWith('/')) return next();
  response.statusCode = 308;
  response.setHeader('Location', `${path.slice(path.lastIndexOf('/') + 1)}/`);
  response.end();
};
