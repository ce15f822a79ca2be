import { learnWords, text } from './words';

/** The words for what people write and are called: no first view needs them. */
learnWords({
  EVENT_NOT_FOUND: () => 'This event does not exist.',
  COMMENT_NOT_FOUND: () => 'This comment does not exist any more.',
  FORBIDDEN: ({ detail }) => `The exchange does not allow this: ${text(detail)}.`,
  USERNAME_TAKEN: () => 'This name is taken. Choose another.',
  PAYLOAD_TOO_LARGE: () => 'The text is too long.',
});
