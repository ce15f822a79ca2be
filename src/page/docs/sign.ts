import { buildOrder, createClient, type Market, type OutcomeIndex, signOrder } from 'ctf-exchange-client';
import { nowMs } from '../units';
import { keyOf, testSigner } from '../wallet-test';

/** The form that signs an order with a new wallet of this page, and fills it into the operation that places it. */

/** What the form needs of Swagger UI. */
export interface Interface {
  preauthorizeApiKey(scheme: string, token: string): void;
  readonly layoutActions: { show(thing: readonly string[], isShown: boolean): void };
  readonly specSelectors: {
    specResolvedSubtree(path: readonly string[]): { get(name: 'parameters'): Iterable<Parameter> };
  };
  readonly specActions: {
    changeParamByIdentity(at: PathMethod, parameter: Parameter, value: string, isXml: boolean): void;
  };
  readonly oas3Actions: { setRequestBodyValue(change: { value: string; pathMethod: PathMethod }): void };
}
interface Parameter {
  get(name: 'name'): string;
}
type PathMethod = readonly [path: string, method: string];

const PLACE: PathMethod = ['/markets/{id}/orders', 'post'];
const OPERATION = ['operations', 'Orders', 'submitOrder'] as const;
const MARKETS_MAX = 50;
/** A forgotten order ends by itself. */
const LIFE_MS = 3_600_000;
const SIZE = '10';
const SHOW_MS_MAX = 10_000;

const client = createClient({ baseUrl: new URL('..', location.href).href.replace(/\/$/, '') });
const signer = testSigner(keyOf(null));
const form = document.getElementById('sign') as HTMLFormElement;
const field = <T extends HTMLElement = HTMLInputElement>(name: string): T =>
  form.elements.namedItem(name) as unknown as T;
const say = (text: string): void => {
  const status = form.querySelector('[role=status]');
  if (status) status.textContent = text;
};

/** Shows the form where funds are for testing only and there is a market to trade. */
export async function offerSigning(swagger: Interface): Promise<void> {
  const [{ funds }, { data }] = await Promise.all([
    client.config(),
    client.markets({ status: 'OPEN', sort: 'volume24h', limit: MARKETS_MAX }),
  ]);
  if (funds !== 'paper' || data.length === 0) return;
  const markets = field<HTMLSelectElement>('market');
  const outcomes = field<HTMLSelectElement>('outcome');
  const chosen = (): Market => data[markets.selectedIndex] as Market;
  markets.append(...data.map(({ question }) => new Option(question)));
  const showMarket = (): void => {
    const { outcomes: both, bestAsk, bestBid, minOrderSize } = chosen();
    outcomes.replaceChildren(...both.map(({ name }) => new Option(name)));
    field('price').value = bestAsk ?? bestBid ?? '0.5';
    field('size').value = Number(minOrderSize) > Number(SIZE) ? minOrderSize : SIZE;
  };
  markets.addEventListener('change', showMarket);
  showMarket();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    say('Signing…');
    fill(swagger, chosen(), outcomes.selectedIndex === 0 ? 0 : 1).then(
      () => say(`Signed by ${signer.address}. Execute sends it.`),
      (error: Error) => say(error.message),
    );
  });
  form.hidden = false;
}

/** Swagger UI fills in its example when it first shows the body, in place of what was there. */
async function shownBody(): Promise<void> {
  const giveUpAt = performance.now() + SHOW_MS_MAX;
  while (!document.querySelector(`#${OPERATION.join('-')} textarea`)) {
    if (performance.now() > giveUpAt)
      throw new Error('The operation did not open: open it, then sign again.');
    await new Promise(requestAnimationFrame);
  }
}

let isSignedIn = false;

async function fill(swagger: Interface, market: Market, outcomeIndex: OutcomeIndex): Promise<void> {
  // A wallet that has signed in has funds, and its token is for the operations on its orders.
  if (!isSignedIn) await client.signIn(signer);
  isSignedIn = true;
  swagger.preauthorizeApiKey('wallet', (await client.accessToken()) ?? '');
  const terms = await client.trading(market.id);
  const order = buildOrder(terms, {
    maker: signer.address,
    side: 'BUY',
    outcomeIndex,
    price: field('price').value.trim(),
    size: field('size').value.trim(),
    expiresAt: nowMs() + LIFE_MS,
  });
  const body = { order: await signOrder(signer, terms.eip712, order), orderType: 'GTC' };
  swagger.layoutActions.show(OPERATION, true);
  await shownBody();
  for (const parameter of swagger.specSelectors.specResolvedSubtree(['paths', ...PLACE]).get('parameters'))
    if (parameter.get('name') === 'id')
      swagger.specActions.changeParamByIdentity(PLACE, parameter, market.id, false);
  swagger.oas3Actions.setRequestBodyValue({ value: JSON.stringify(body, null, 2), pathMethod: PLACE });
  document.getElementById(OPERATION.join('-'))?.scrollIntoView();
}
