import { ORDER_TYPES, SELF_TRADE_PREVENTIONS } from '../../exchange/status';

/**
 * Quick looks at the usual bodies about orders. They say yes only to bodies that the schemas in orders.ts accept as they are, so
 * they refuse nothing: what they do not know goes to the schema (test/wire/usual.test.ts compares them). The schema of a submission
 * takes ten times as long, a twelfth of all the time of an order.
 */

export const UINT256 = /^(0|[1-9][0-9]*)$/;
export const UINT256_DIGITS = 78;
const UINT256_MAX = (2n ** 256n - 1n).toString();
export const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
export const CLIENT_ORDER_ID = /^[A-Za-z0-9_.:-]{1,64}$/;

type Members = Readonly<Record<string, unknown>>;

const ORDER_MEMBERS = 13;
const isOrderType = memberOf(ORDER_TYPES);
const isSelfTradePrevention = memberOf(SELF_TRADE_PREVENTIONS);

export function isUsualSubmission(value: unknown): boolean {
  if (!isObject(value) || !isUsualOrder(value.order)) return false;
  for (const name in value) if (name !== 'order' && !isUsualOption(name, value[name])) return false;
  return true;
}

export const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/** For an object with one member, which is a list of 1 to `most` such items. */
export function isListOf(
  name: string,
  most: number,
  isItem: (item: unknown) => boolean,
): (value: unknown) => boolean {
  return (value) => {
    if (!isObject(value) || Object.keys(value).length !== 1) return false;
    const list = value[name];
    return Array.isArray(list) && list.length > 0 && list.length <= most && list.every(isItem);
  };
}

/** For an object with one member, which is such a value. */
export function isOnly(name: string, isValue: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => isObject(value) && Object.keys(value).length === 1 && isValue(value[name]);
}

function isUsualOption(name: string, value: unknown): boolean {
  switch (name) {
    case 'orderType':
      return isOrderType(value);
    case 'selfTradePrevention':
      return isSelfTradePrevention(value);
    case 'clientOrderId':
      return typeof value === 'string' && CLIENT_ORDER_ID.test(value);
    case 'deadline':
      return typeof value === 'number' && value > 0 && Number.isSafeInteger(value);
    default:
      return false;
  }
}

function isUsualOrder(order: unknown): boolean {
  return (
    isObject(order) &&
    Object.keys(order).length === ORDER_MEMBERS &&
    isUint(order.salt) &&
    isAddress(order.maker) &&
    isAddress(order.signer) &&
    isAddress(order.taker) &&
    isUint(order.tokenId) &&
    isUint(order.makerAmount) &&
    isUint(order.takerAmount) &&
    isUint(order.expiration) &&
    isUint(order.nonce) &&
    isUint(order.feeRateBps) &&
    (order.side === 0 || order.side === 1) &&
    (Object.is(order.signatureType, 0) || order.signatureType === 3) &&
    typeof order.signature === 'string' &&
    order.signature !== ''
  );
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Of a text of digits: texts of the same length compare as their numbers do. One token id in seven has all 78 digits. */
export const isBelow2To256 = (text: string): boolean =>
  text.length < UINT256_DIGITS || (text.length === UINT256_DIGITS && text <= UINT256_MAX);

const isUint = (value: unknown): boolean =>
  typeof value === 'string' && isBelow2To256(value) && UINT256.test(value);

const isAddress = (value: unknown): boolean => typeof value === 'string' && ADDRESS.test(value);

function memberOf(names: readonly string[]): (value: unknown) => boolean {
  return (value) => names.includes(value as string);
}
