const { TestEnvironment } = require('jest-environment-node');
const { createOutside } = require('./outside.js');

/**
 * Node, and nothing that a test file started outlives it. A hook that runs out of time never gets to hand over what it has
 * started, so no `afterAll` can end that: test/support/leftovers.ts lists it here from the moment it is there.
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
