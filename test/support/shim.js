/** Jest's transformer: what it runs in its sandbox of a test file is one line, which loads that file outside. */
const GLOBALS = 'afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test';

module.exports = {
  process: () => ({ code: `loadOutside(__filename, { ${GLOBALS} });` }),
  getCacheKey: () => GLOBALS,
};
