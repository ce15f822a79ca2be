/** In place of the package ethers in jest's sandboxes (jest.config.js): test/support/outside.js says why. */
module.exports = globalThis.outside('ethers');
