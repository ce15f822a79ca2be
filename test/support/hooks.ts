import { report } from './watch';

/** Runs before every test file (jest.config.js). */
afterEach(report);
afterAll(report);
