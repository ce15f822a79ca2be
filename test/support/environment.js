const { TestEnvironment } = require('jest-environment-node');
const { load, startFile } = require('./outside.js');

/**
 * Jest's Node environment, whose test files run outside its sandbox (test/support/outside.js), and which ends every process
 * that a file started. A hook that times out never returns the processes that it started, so no `afterAll` can end them;
 * test/support/leftovers.ts lists each process from its start.
 */
module.exports = class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.isWatching = config.globalConfig.watch || config.globalConfig.watchAll;
  }

  async setup() {
    await super.setup();
    this.env = { ...process.env };
    this.leftovers = { pids: new Set(), isOver: false };
    globalThis.leftovers = this.leftovers;
    startFile(this.isWatching);
    this.global.loadOutside = load;
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
    for (const name of Object.keys(process.env)) if (!(name in this.env)) delete process.env[name];
    Object.assign(process.env, this.env);
    await super.teardown();
  }
};
