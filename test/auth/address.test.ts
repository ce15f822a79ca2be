import { randomBytes } from 'node:crypto';
import { keccak256 as ethersKeccak256, getAddress, hexlify } from 'ethers';
import { checksumAddress } from '../../src/auth/address';
import { keccak256, loadKeccak } from '../../src/auth/keccak';
import { refusal } from './orders';

/** The test cases of EIP-55. */
const PUBLISHED = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

describe.each(['before the WebAssembly is loaded', 'after'])('%s', (phase) => {
  beforeAll(() => (phase === 'after' ? loadKeccak() : undefined));

  test('keccak256 equals that of ethers', () => {
    for (const length of [0, 1, 64, 66, 135, 136, 137, 416, 5000]) {
      const data = randomBytes(length);
      expect(hexlify(keccak256(data))).toBe(ethersKeccak256(data));
    }
  });
});

test.each(PUBLISHED)('%s keeps its checksum, from lower, upper and its own case', (address) => {
  const digits = address.slice(2);
  for (const spelling of [address, `0x${digits.toLowerCase()}`, `0x${digits.toUpperCase()}`]) {
    expect(checksumAddress(spelling)).toBe(address);
    expect(checksumAddress(spelling)).toBe(address);
  }
});

test('more addresses than the cache holds are checksummed as ethers does', () => {
  for (let i = 0; i < 10_500; i++) {
    const lower = `0x${randomBytes(20).toString('hex')}`;
    const address = checksumAddress(lower);
    if (i % 50 === 0) expect(address).toBe(getAddress(lower));
  }
});

test.each([
  ['one letter in the wrong case', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'],
  ['39 digits', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe'],
  ['41 digits', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0'],
  ['no 0x', '5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
  ['0X', '0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
  ['a digit that is none', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeg'],
  ['a line end', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n'],
  ['an ICAP address', 'XE65GB6LDNXYOFTX0NSV3FUWKOWIXAMJK36'],
  ['nothing', ''],
])('refuses %s', async (_, text) => {
  expect((await refusal(() => checksumAddress(text))).code).toBe('INVALID_ADDRESS');
});
