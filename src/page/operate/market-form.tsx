import type { Market } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { act, nowMs } from './api';
import { Choice, Field, Problem } from './parts';
import { useAction } from './use';

const QUESTION_MAX = 500;
const WORD_MAX = 32;
const TAGS_MAX = 20;
const TICKS = [
  ['0.01', '1¢'],
  ['0.001', '0.1¢'],
  ['0.1', '10¢'],
] as const;
const WORD = /^[a-z0-9]+(-[a-z0-9]+)*$/;

interface Draft {
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly tags: string;
  readonly yes: string;
  readonly no: string;
  readonly tickSize: (typeof TICKS)[number][0];
  readonly lotSize: string;
  readonly minOrderSize: string;
  /** In percent of the cheaper side. */
  readonly fee: string;
  readonly eventTitle: string;
  readonly eventSlug: string;
  /** In UTC, in the format of the browser's own field. */
  readonly closesAt: string;
  readonly resolutionSource: string;
  readonly isDraft: boolean;
}

const SLUG_MAX = 80;

/** An edited market has its own texts; a further market of an event begins with those that its markets share. */
const draftOf = (market: Market | null, sibling: Market | null): Draft => ({
  ...draftFrom(market ?? sibling),
  question: market?.question ?? '',
});

const draftFrom = (market: Market | null) => ({
  description: market?.description ?? '',
  category: market?.category ?? '',
  tags: market?.tags.join(', ') ?? '',
  yes: market?.outcomes[0]?.name ?? 'Yes',
  no: market?.outcomes[1]?.name ?? 'No',
  tickSize: TICKS.find(([tick]) => tick === market?.tickSize)?.[0] ?? '0.01',
  lotSize: market?.lotSize ?? '0.01',
  minOrderSize: market?.minOrderSize ?? '1',
  fee: String((market?.feeRateBps ?? 0) / 100),
  eventTitle: market?.event?.title ?? '',
  eventSlug: market?.event?.slug ?? '',
  closesAt: market?.closesAt?.slice(0, 16) ?? '',
  resolutionSource: market?.resolutionSource ?? '',
  isDraft: false,
});

const tagsOf = ({ tags }: Draft): string[] =>
  tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
/** The name of an event in its address, unless the operator writes one. */
const slugOf = ({ eventSlug, eventTitle }: Draft): string =>
  eventSlug ||
  eventTitle
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_MAX)
    .replace(/^-|-$/g, '');
const closesAtOf = ({ closesAt }: Draft): string | null => (closesAt === '' ? null : `${closesAt}:00Z`);

const isSize = (text: string): boolean => /^(0|[1-9]\d{0,9})(\.\d{1,2})?$/.test(text) && Number(text) > 0;

/** The checks of a market before it is sent; the exchange repeats all of them. */
function checksOf(draft: Draft): readonly (readonly [words: string, isGood: boolean])[] {
  const { question, category, lotSize, minOrderSize, fee, eventTitle, eventSlug, resolutionSource } = draft;
  const tags = tagsOf(draft);
  const closesAt = closesAtOf(draft);
  return [
    [
      `The question has 1 to ${QUESTION_MAX} characters`,
      question.trim() !== '' && question.length <= QUESTION_MAX,
    ],
    [
      `The category is a word of a-z, 0-9 and hyphens, at most ${WORD_MAX} characters`,
      category === '' || (WORD.test(category) && category.length <= WORD_MAX),
    ],
    [
      `Tags are such words, at most ${TAGS_MAX}`,
      tags.length <= TAGS_MAX && tags.every((tag) => WORD.test(tag) && tag.length <= WORD_MAX),
    ],
    [
      'The outcomes have different names',
      draft.yes.trim() !== '' && draft.no.trim() !== '' && draft.yes.trim() !== draft.no.trim(),
    ],
    ['Lot and smallest order are numbers of shares', isSize(lotSize) && isSize(minOrderSize)],
    ['The fee is a percentage with at most two decimals', /^\d{1,2}(\.\d{1,2})?$/.test(fee)],
    [
      'An event has a title, and an address of a-z, 0-9 and hyphens',
      (eventTitle === '' && eventSlug === '') || (eventTitle.trim() !== '' && WORD.test(slugOf(draft))),
    ],
    ['It closes in the future, or never', closesAt === null || Date.parse(closesAt) > nowMs()],
    ['The source begins with https://', resolutionSource === '' || resolutionSource.startsWith('https://')],
  ];
}

function bodyOf(draft: Draft, market: Market | null): Record<string, unknown> {
  const texts = {
    question: draft.question.trim(),
    description: draft.description,
    tags: tagsOf(draft),
    closesAt: closesAtOf(draft),
    ...(draft.category === '' ? {} : { category: draft.category }),
    resolutionSource: draft.resolutionSource.trim() || null,
  };
  if (market) return texts;
  return {
    ...texts,
    outcomes: [draft.yes.trim(), draft.no.trim()],
    tickSize: draft.tickSize,
    lotSize: draft.lotSize,
    minOrderSize: draft.minOrderSize,
    feeRateBps: Math.round(Number(draft.fee) * 100),
    ...(draft.eventTitle === '' ? {} : { event: { slug: slugOf(draft), title: draft.eventTitle.trim() } }),
    draft: draft.isDraft,
  };
}

interface FormProps {
  /** Null for a new one. */
  readonly market: Market | null;
  /** A market of the event that the new one belongs to. */
  readonly sibling?: Market;
  readonly onDone: () => void;
}

export function MarketForm({ market, sibling, onDone }: FormProps) {
  const [draft, setDraft] = useState(() => draftOf(market, sibling ?? null));
  const action = useAction();
  const checks = checksOf(draft);
  const isGood = checks.every(([, good]) => good);
  const send = async (): Promise<void> => {
    const [method, path] = market ? ['PATCH', `/admin/markets/${market.id}`] : ['POST', '/admin/markets'];
    if (await action.run(() => act(method ?? '', path ?? '', bodyOf(draft, market), draft.question.trim())))
      onDone();
  };
  return (
    <section class="panel" aria-labelledby="form">
      <h2 id="form">
        {market
          ? 'Edit the market'
          : sibling?.event
            ? `New market in “${sibling.event.title}”`
            : 'New market'}
      </h2>
      <form
        class="columns"
        onSubmit={(event) => {
          event.preventDefault();
          if (isGood) void send();
        }}
      >
        <Fields draft={draft} isNew={market === null} onDraft={setDraft} />
        <div>
          <Preview draft={draft} />
          <ul class="checks" aria-label="Checks">
            {checks.map(([words, good]) => (
              <li key={words} class={good ? 'good' : 'bad'}>
                {good ? '✓' : '✗'} {words}
              </li>
            ))}
          </ul>
          <button type="submit" class="button button-primary button-wide" disabled={!isGood || action.isBusy}>
            {action.isBusy ? 'Working…' : market ? 'Save the market' : 'Create the market'}
          </button>
          <Problem text={action.error} />
        </div>
      </form>
    </section>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly isNew: boolean;
  readonly onDraft: (draft: Draft) => void;
}

function Fields({ draft, isNew, onDraft }: FieldsProps) {
  const field = (member: Exclude<keyof Draft, 'isDraft' | 'tickSize'>) => ({
    value: draft[member],
    onValue: (value: string) => onDraft({ ...draft, [member]: value }),
  });
  return (
    <div class="fields">
      <Field label="Question" {...field('question')} max={QUESTION_MAX} />
      <Field label="Rules" {...field('description')} isLong hint="How the market is decided, and by what." />
      <Field label="Category" {...field('category')} />
      <Field label="Tags" {...field('tags')} hint="With commas between them." />
      <Field label="Closes at (UTC)" {...field('closesAt')} type="datetime-local" />
      <Field label="Source" {...field('resolutionSource')} hint="The https page that decides the market." />
      {isNew && (
        <>
          <Field label="First outcome" {...field('yes')} max={WORD_MAX} />
          <Field label="Second outcome" {...field('no')} max={WORD_MAX} />
          <Choice
            label="Price step"
            value={draft.tickSize}
            options={TICKS}
            onValue={(tickSize) => onDraft({ ...draft, tickSize })}
          />
          <Field label="Lot in shares" {...field('lotSize')} hint="Sizes are multiples of it." />
          <Field label="Smallest order in shares" {...field('minOrderSize')} />
          <Field label="Fee in percent" {...field('fee')} hint="Of the cheaper side of a trade." />
          <Field
            label="Event"
            {...field('eventTitle')}
            hint="Its title. Markets of one event have a page together; empty for a market of its own."
          />
          <Field
            label="Address of the event"
            {...field('eventSlug')}
            hint={draft.eventTitle === '' ? 'Made from the title when it is empty.' : `/e/${slugOf(draft)}`}
            max={SLUG_MAX}
          />
          <label class="check">
            <input
              type="checkbox"
              checked={draft.isDraft}
              onChange={(event) => onDraft({ ...draft, isDraft: event.currentTarget.checked })}
            />
            Keep it as a draft
          </label>
        </>
      )}
    </div>
  );
}

function Preview({ draft }: { draft: Draft }) {
  const closesAt = closesAtOf(draft);
  return (
    <article class="preview" aria-label="Preview">
      <small>{draft.category || 'no category'}</small>
      <h3>{draft.question.trim() || 'The question'}</h3>
      <div class="outcomes">
        <span>{draft.yes || '?'} –</span>
        <span>{draft.no || '?'} –</span>
      </div>
      <p>{draft.description || 'No rules yet.'}</p>
      <small>
        {closesAt === null ? 'Never closes' : `Closes ${closesAt.replace('T', ' ').slice(0, 16)} UTC`}
      </small>
    </article>
  );
}
