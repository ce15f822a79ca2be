import type { Comment, Me } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { client } from '../exchange';
import { wordsFor } from '../words';

const BODY_MAX = 2_000;

interface Props {
  readonly marketId: string;
  /** The comment that it answers. */
  readonly parentId: string | undefined;
  onWritten(comment: Comment): void;
}

export const WriteComment = ({ marketId, parentId, onWritten }: Props) => {
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const [me, setMe] = useState<Me | null>(null);
  const [name, setName] = useState('');
  const isReply = parentId !== undefined;
  const id = isReply ? 'reply' : 'comment';
  useEffect(() => {
    client.me().then(setMe, () => undefined);
  }, []);
  const post = async (): Promise<void> => {
    setBusy(true);
    setRefused(null);
    try {
      if (name.trim() !== '') {
        const { username } = await client.updateProfile({ username: name.trim() });
        if (me) setMe({ ...me, username });
        setName('');
      }
      onWritten(await client.postComment(marketId, text.trim(), parentId));
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
      <label class="hidden" for={id}>
        {isReply ? 'Your reply' : 'Your comment'}
      </label>
      <textarea
        id={id}
        rows={2}
        maxLength={BODY_MAX}
        placeholder={isReply ? 'Write a reply' : 'Write a comment about this market'}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {/* The focus stays on it when the text is empty again. */}
      <button type="submit" class="button" aria-disabled={isBusy || text.trim() === ''}>
        {isReply ? 'Reply' : 'Post'}
      </button>
      {me !== null && me.username === null && text !== '' && (
        <label class="write-name">
          Your name here, if you like
          <input
            type="text"
            maxLength={20}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
      )}
      {refused !== null && (
        <p class="hint refused" role="alert">
          {refused}
        </p>
      )}
    </form>
  );
};
