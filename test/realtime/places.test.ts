import { createPlaces } from '../../src/realtime/sockets/places';
import { until } from '../support/waiting';

const REST_MS = 1_000;
const PER_IP = 100;

test('to open and close sockets is no way around the limit: a place rests for a second', async () => {
  const places = createPlaces(() => undefined);
  const taken = Array.from({ length: PER_IP }, () => places.take('203.0.113.1'));
  expect(places.take('203.0.113.1')).toBeNull();
  const returnedAtMs = performance.now();
  for (const giveBack of taken) giveBack?.();
  expect(places.take('203.0.113.1')).toBeNull();
  expect(places.take('203.0.113.2')).not.toBeNull();
  await until('a place is free again', () => places.take('203.0.113.1') !== null);
  // Timers round to whole milliseconds.
  expect(performance.now() - returnedAtMs).toBeGreaterThan(REST_MS - 2);
});
