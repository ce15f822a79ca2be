import type { Balances, Comment, Order } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { dollars, microOf } from '../units';
import { act, get, type Page } from './api';
import { Confirmed, Field, Problem, shortHash, Table, timeWords } from './parts';
import { useAction, useLoaded } from './use';

interface Account {
  readonly address: string;
  readonly username: string | null;
  readonly bio: string | null;
  readonly avatarUrl: string | null;
  readonly joinedAt: string | null;
  readonly balances: Balances;
  readonly positions: number;
  readonly openOrders: number;
}

export function People() {
  const [typed, setTyped] = useState('');
  const [address, setAddress] = useState<string | null>(null);
  return (
    <>
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          setAddress(typed.trim());
        }}
      >
        <Field label="Address" value={typed} onValue={setTyped} />
        <button type="submit" class="button button-primary">
          Look up
        </button>
      </form>
      {address !== null && address !== '' && <Person key={address} address={address} />}
      <Comments />
    </>
  );
}

function Person({ address }: { address: string }) {
  const path = `/admin/accounts/${encodeURIComponent(address)}`;
  const account = useLoaded(() => get<Account>(path), []);
  const orders = useLoaded(() => get<Page<Order>>(`${path}/orders`), []);
  const action = useAction();
  const clear = async (member: 'username' | 'bio' | 'avatarUrl'): Promise<void> => {
    const body = { [member]: null };
    if (await action.run(() => act('PATCH', `/admin/profiles/${encodeURIComponent(address)}`, body)))
      account.again();
  };
  if (!account.value) return <Problem text={account.error} />;
  const { username, bio, avatarUrl, joinedAt, balances, positions, openOrders } = account.value;
  const texts = Object.entries({ username, bio, avatarUrl }) as [
    'username' | 'bio' | 'avatarUrl',
    string | null,
  ][];
  return (
    <section class="panel" aria-labelledby="person">
      <h2 id="person">{username ?? shortHash(account.value.address)}</h2>
      <p class="address">{account.value.address}</p>
      <dl class="figures">
        {[
          ['First seen', timeWords(joinedAt)],
          ['Cash', dollars(microOf(balances.collateral.available))],
          ['In orders', dollars(microOf(balances.collateral.reserved))],
          ['Positions', String(positions)],
          ['Open orders', String(openOrders)],
        ].map(([name, value]) => (
          <div key={name} class="figure">
            <dt>{name}</dt>
            <dd>
              <strong>{value}</strong>
            </dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        {texts.map(
          ([member, text]) =>
            text !== null && (
              <button
                key={member}
                type="button"
                class="button button-small"
                disabled={action.isBusy}
                onClick={() => void clear(member)}
              >
                Clear the {member}: {text.slice(0, 40)}
              </button>
            ),
        )}
      </div>
      <Problem text={action.error ?? orders.error} />
      <Table
        caption="Orders of the wallet"
        head={['Order', 'Market', 'Side', 'Price', 'Size', 'Filled', 'Status']}
        empty="It has no orders."
        rows={(orders.value?.data ?? []).map((order) => ({
          key: order.orderHash,
          cells: [
            shortHash(order.orderHash),
            order.marketId,
            `${order.side} ${order.outcomeIndex === 0 ? 'first' : 'second'} outcome`,
            order.price,
            order.size,
            order.filledSize,
            order.status,
          ],
        }))}
      />
    </section>
  );
}

function Comments() {
  const [typed, setTyped] = useState('');
  const [market, setMarket] = useState('');
  const path = `/markets/${encodeURIComponent(market)}/comments`;
  const ask = (): Promise<Page<Comment> | null> =>
    market === '' ? Promise.resolve(null) : get<Page<Comment>>(path);
  const list = useLoaded(ask, [market]);
  const action = useAction();
  const [doomed, setDoomed] = useState<Comment | null>(null);
  const remove = async ({ id }: Comment): Promise<void> => {
    if (!(await action.run(() => act('DELETE', `/admin/comments/${id}`)))) return;
    setDoomed(null);
    list.again();
  };
  return (
    <section class="panel" aria-labelledby="comments">
      <h2 id="comments">Comments of a market</h2>
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          setMarket(typed.trim());
        }}
      >
        <Field label="Market" value={typed} onValue={setTyped} hint="Its slug or id." />
        <button type="submit" class="button">
          Show
        </button>
      </form>
      <Problem text={list.error ?? (doomed ? null : action.error)} />
      {doomed && (
        <div>
          <p dir="auto">
            Delete “{doomed.body}” by {doomed.author.username ?? shortHash(doomed.author.address)}? It does
            not come back.
          </p>
          <Confirmed
            word="delete"
            label="Delete the comment"
            action={action}
            onConfirm={() => void remove(doomed)}
          />
          <button type="button" class="button button-quiet" onClick={() => setDoomed(null)}>
            Keep it
          </button>
        </div>
      )}
      {list.value && (
        <Table
          caption="Comments"
          head={['When', 'Who', 'Comment', 'Action']}
          empty="Nobody has commented."
          rows={list.value.data.map((comment) => ({
            key: comment.id,
            cells: [
              timeWords(comment.createdAt),
              comment.author.username ?? shortHash(comment.author.address),
              comment.deleted ? 'Deleted' : comment.body,
              !comment.deleted && (
                <button
                  type="button"
                  class="button button-small"
                  disabled={action.isBusy}
                  onClick={() => setDoomed(comment)}
                >
                  Delete
                </button>
              ),
            ],
          }))}
        />
      )}
    </section>
  );
}
