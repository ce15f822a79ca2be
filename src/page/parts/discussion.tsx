import '../people-words';
import type { Comment, Market } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { useWallet } from '../account-data';
import { client } from '../exchange';
import { CommentRow } from './comment-row';
import { Notice, Skeleton } from './notice';
import { WriteComment } from './write-comment';

const COMMENTS_MAX = 50;
const REFRESH_MS = 20_000;

/** Newest first; replies are below the comment that they answer, oldest first. */
function threadsOf(comments: readonly Comment[]): { comment: Comment; replies: readonly Comment[] }[] {
  const shown = comments.filter(({ deleted }) => !deleted);
  const ids = new Set(shown.map(({ id }) => id));
  const isReply = ({ parentId }: Comment): boolean => parentId !== null && ids.has(parentId);
  return shown
    .filter((comment) => !isReply(comment))
    .map((comment) => ({
      comment,
      replies: shown.filter(({ parentId }) => parentId === comment.id).reverse(),
    }));
}

function useComments(marketId: string) {
  const [comments, setComments] = useState<readonly Comment[] | null>(null);
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
  return {
    comments,
    add: (comment: Comment): void => setComments((now) => [comment, ...(now ?? [])]),
    /** Replaces a shown comment by the exchange's answer; null when the comment no longer exists. */
    replace: (id: string, next: Comment | null): void =>
      setComments((now) => (now ?? []).flatMap((one) => (one.id !== id ? [one] : next ? [next] : []))),
  };
}

/** The comments on the market. */
export const Discussion = ({ market }: { readonly market: Market }) => {
  const wallet = useWallet();
  const { comments, add, replace } = useComments(market.id);
  const [answered, setAnswered] = useState<string | null>(null);
  const row = (comment: Comment) => (
    <CommentRow
      comment={comment}
      isOwn={comment.author.address === wallet?.address}
      canAct={wallet !== null}
      onReply={() => setAnswered(comment.parentId ?? comment.id)}
      onChange={replace}
    />
  );
  const write = (parentId?: string) => (
    <WriteComment
      marketId={market.id}
      parentId={parentId}
      onWritten={(comment) => {
        add(comment);
        setAnswered(null);
      }}
    />
  );
  return (
    <div class="discussion" data-testid="discussion">
      {wallet ? write() : <p class="hint discussion-hint">Sign in to write a comment.</p>}
      {comments === null ? (
        <Skeleton rows={2} />
      ) : comments.length === 0 ? (
        <Notice title="No comments yet">What do you know that the price does not?</Notice>
      ) : (
        <ul class="comments">
          {threadsOf(comments).map(({ comment, replies }) => (
            <li key={comment.id} class="thread">
              {row(comment)}
              {replies.map((reply) => (
                <div key={reply.id} class="comment-reply">
                  {row(reply)}
                </div>
              ))}
              {answered === comment.id && <div class="comment-reply">{write(comment.id)}</div>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};
