import type { Comment, Market } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { useWallet } from '../account-data';
import { client } from '../exchange';
import { shortAddress, when } from '../units';
import { wordsFor } from '../words';
import { Notice, Skeleton } from './notice';

const COMMENTS_MAX = 50;
const BODY_MAX = 2_000;
const REFRESH_MS = 20_000;

/** The comments of the market, newest first. */
export const Discussion = ({ market }: { readonly market: Market }) => {
  const wallet = useWallet();
  const [comments, setComments] = useState<readonly Comment[] | null>(null);
  const marketId = market.id;
  useEffect(() => {
    let isCurrent = true;
    setComments(null);
    const load = (): void => {
      client.comments(marketId, { limit: COMMENTS_MAX }).then(
        ({ data }) => isCurrent && setComments(data),
        () => isCurrent && setComments((now) => now ?? []),
      );
    };
    load();
    const timer = setInterval(() => document.visibilityState === 'visible' && load(), REFRESH_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [marketId]);
  /** An answer of the exchange in place of what was shown; null where the comment is gone. */
  const replace = (id: string, next: Comment | null): void =>
    setComments((now) => (now ?? []).flatMap((one) => (one.id !== id ? [one] : next ? [next] : [])));
  const shown = comments?.filter(({ deleted }) => !deleted) ?? null;
  return (
    <section class="card discussion" aria-labelledby="discussion-title">
      <h2 id="discussion-title" class="card-title">
        Discussion
      </h2>
      {wallet ? (
        <Write marketId={marketId} onWritten={(comment) => setComments((now) => [comment, ...(now ?? [])])} />
      ) : (
        <p class="hint discussion-hint">Sign in to write a comment.</p>
      )}
      {shown === null ? (
        <Skeleton rows={2} />
      ) : shown.length === 0 ? (
        <Notice title="No comments yet">What do you know that the price does not?</Notice>
      ) : (
        <ul class="comments">
          {shown.map((comment) => (
            <CommentRow
              key={comment.id}
              comment={comment}
              isOwn={comment.author.address === wallet?.address}
              canLike={wallet !== null}
              onChange={replace}
            />
          ))}
        </ul>
      )}
    </section>
  );
};

interface WriteProps {
  readonly marketId: string;
  onWritten(comment: Comment): void;
}

const Write = ({ marketId, onWritten }: WriteProps) => {
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const post = async (): Promise<void> => {
    setBusy(true);
    setRefused(null);
    try {
      onWritten(await client.postComment(marketId, text.trim()));
      setText('');
    } catch (error) {
      setRefused(wordsFor(error).text);
    }
    setBusy(false);
  };
  return (
    <form
      class="write"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy && text.trim() !== '') void post();
      }}
    >
      <label class="hidden" for="comment">
        Your comment
      </label>
      <textarea
        id="comment"
        rows={2}
        maxLength={BODY_MAX}
        placeholder="Write a comment about this market"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" class="button" disabled={isBusy || text.trim() === ''}>
        Post
      </button>
      {refused !== null && (
        <p class="hint refused" role="alert">
          {refused}
        </p>
      )}
    </form>
  );
};

interface CommentProps {
  readonly comment: Comment;
  readonly isOwn: boolean;
  readonly canLike: boolean;
  onChange(id: string, next: Comment | null): void;
}

const CommentRow = ({ comment, isOwn, canLike, onChange }: CommentProps) => {
  const { id, author, body, likes, createdAt, parentId } = comment;
  // Shows the new state at once; if the request fails, the comment stays unchanged.
  const act = (work: Promise<Comment | null>): void =>
    void work.then(
      (next) => onChange(id, next),
      () => undefined,
    );
  return (
    <li class={parentId === null ? 'comment' : 'comment comment-reply'}>
      <p class="comment-head">
        <strong>{author.username ?? shortAddress(author.address)}</strong>
        <time dateTime={createdAt}>{when(createdAt)}</time>
      </p>
      <p class="comment-body">{body}</p>
      <p class="comment-acts">
        <button type="button" class="link" disabled={!canLike} onClick={() => act(client.likeComment(id))}>
          Like{likes > 0 && ` · ${likes}`}
        </button>
        {isOwn && (
          <button type="button" class="link" onClick={() => act(client.deleteComment(id).then(() => null))}>
            Delete
          </button>
        )}
      </p>
    </li>
  );
};
