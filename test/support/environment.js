const { TestEnvironment } = require('jest-environment-node');
const { createOutside } = require('./outside.js');

/**
 * Jest's Node environment, which ends every process that a test file started. A hook that times out never returns the
 * processes that it started, so no `afterAll` can end them; test/support/leftovers.ts lists each process from its start.
 */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.leftovers = { pids: new Set(), isOver: false };
    this.global.leftovers = this.leftovers;
    this.global.outside = createOutside();
  }

  async teardown() {
    this.leftovers.isOver = true;
    for (const pid of this.leftovers.pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended between the two lines.
      }
    }
    await super.teardown();
  }
};
