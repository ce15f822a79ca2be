import type { Comment } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { client } from '../exchange';
import { keep, kept } from '../local-storage';
import { inPage, linkToPerson } from '../route';
import { shortAddress } from '../units';
import { wordsFor } from '../words';
import { Identicon } from './identicon';
import { Moment } from './moment';
import { Prose } from './rules';

/** The exchange does not show who liked a comment, so this browser stores the likes of its person. */
const NAME = 'liked';
const LIKED_MAX = 500;
const liked = (): string[] => (kept(NAME) ?? '').split(' ').filter(Boolean);

function note(id: string, isLiked: boolean): void {
  const others = liked().filter((one) => one !== id);
  keep(NAME, [...others, ...(isLiked ? [id] : [])].slice(-LIKED_MAX).join(' '));
}

interface Props {
  readonly comment: Comment;
  readonly isOwn: boolean;
  readonly canAct: boolean;
  onReply(): void;
  onChange(id: string, next: Comment | null): void;
}

export const CommentRow = ({ comment, isOwn, canAct, onReply, onChange }: Props) => {
  const { id, author, body, likes, createdAt } = comment;
  const [isLiked, setLiked] = useState(() => liked().includes(id));
  const [refused, setRefused] = useState<string | null>(null);
  const act = async (work: () => Promise<Comment | null>): Promise<void> => {
    setRefused(null);
    try {
      onChange(id, await work());
    } catch (error) {
      setRefused(wordsFor(error).text);
    }
  };
  const toggleLike = (): Promise<void> =>
    act(async () => {
      const next = isLiked
        ? await client.unlikeComment(id).then(() => ({ ...comment, likes: Math.max(0, likes - 1) }))
        : await client.likeComment(id);
      note(id, !isLiked);
      setLiked(!isLiked);
      return next;
    });
  return (
    <article class="comment">
      <p class="comment-head">
        <a
          class="comment-author"
          href={linkToPerson(author.address)}
          title={author.address}
          onClick={inPage(linkToPerson(author.address))}
        >
          <Identicon address={author.address} size={20} />
          <strong>{author.username ?? shortAddress(author.address)}</strong>
        </a>
        <Moment at={createdAt} />
      </p>
      <div class="comment-body" dir="auto">
        <Prose text={body} />
      </div>
      <p class="comment-acts">
        <button
          type="button"
          class="link"
          disabled={!canAct}
          aria-pressed={isLiked}
          onClick={() => void toggleLike()}
        >
          {isLiked ? 'Liked' : 'Like'}
          {likes > 0 && ` · ${likes}`}
        </button>
        <button type="button" class="link" disabled={!canAct} onClick={onReply}>
          Reply
        </button>
        {isOwn && (
          <button
            type="button"
            class="link"
            onClick={() => void act(() => client.deleteComment(id).then(() => null))}
          >
            Delete
          </button>
        )}
      </p>
      {refused !== null && (
        <p class="hint refused" role="alert">
          {refused}
        </p>
      )}
    </article>
  );
};
