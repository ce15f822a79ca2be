/** Replaces the package ajv in jest's sandboxes (jest.config.js); test/support/outside.js has the reason. */
module.exports = globalThis.outside('ajv');
