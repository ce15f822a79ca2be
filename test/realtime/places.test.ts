import { createPlaces } from '../../src/realtime/sockets/places';

const REST_MS = 1_000;
const PER_IP = 100;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('to open and close sockets is no way around the limit: a place rests for a second', () => {
  const places = createPlaces(() => undefined);
  const taken = Array.from({ length: PER_IP }, () => places.take('203.0.113.1'));
  expect(places.take('203.0.113.1')).toBeNull();
  for (const giveBack of taken) giveBack?.();
  jest.advanceTimersByTime(REST_MS - 1);
  expect(places.take('203.0.113.1')).toBeNull();
  expect(places.take('203.0.113.2')).not.toBeNull();
  jest.advanceTimersByTime(1);
  expect(places.take('203.0.113.1')).not.toBeNull();
});
