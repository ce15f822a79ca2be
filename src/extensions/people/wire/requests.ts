import Joi from 'joi';
import { createShape, isUnicode } from '../../../wire/shape';

export const BIO_MAX = 280;
export const COMMENT_MAX = 2_000;
/** The most line ends of a comment. */
const LINE_ENDS_MAX = 50;
const URL_MAX = 2_048;
const COMMENT_ID_MAX = 64;
const USERNAME = /^[A-Za-z0-9_]{3,20}$/;
const URL_CHARACTERS = /^https:\/\/[!-~]+$/;

/** No control characters except line ends, and no characters that change the direction of the text after them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it refuses
const TEXT = /^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]*$/;
const FEW_LINES = new RegExp(`^(?:[^\\n]*\\n){0,${LINE_ENDS_MAX}}[^\\n]*$`);
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** A text written by people; its length is counted in code points. */
const text = (most: number, isSeen: (value: string) => boolean) =>
  Joi.string()
    .pattern(TEXT, 'text without control characters')
    .custom((value: string, helpers) => {
      if (!isUnicode(value)) return helpers.error('text.unicode');
      if ([...value].length > most) return helpers.error('text.length', { most });
      return isSeen(value) ? value : helpers.error('text.blank');
    })
    .messages({
      'text.unicode': 'must be valid Unicode',
      'text.length': 'must have at most {#most} characters',
      'text.blank': 'must contain a visible character',
    });

const httpsUrl = Joi.string()
  .max(URL_MAX)
  .pattern(URL_CHARACTERS, 'https URL')
  .custom((text: string, helpers) => (isPlainUrl(text) ? text : helpers.error('string.https')))
  .messages({ 'string.https': 'must be an https URL without user and password' });

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, hostname } = new URL(text);
  return username === '' && password === '' && hostname !== '';
}

/** PATCH /me/profile: omitted members do not change, null clears one. */
export interface ProfileBody {
  readonly username?: string | null;
  readonly bio?: string | null;
  readonly avatarUrl?: string | null;
  readonly hidden?: boolean | null;
  readonly portfolioPublic?: boolean | null;
}

export const profileShape = createShape<ProfileBody>(
  Joi.object({
    username: Joi.string()
      .pattern(USERNAME)
      .allow(null)
      .description('A name that no other wallet has, regardless of case; null removes it.'),
    bio: text(BIO_MAX, () => true)
      .allow(null, '')
      .description('A text about the wallet; null removes it.'),
    avatarUrl: httpsUrl.allow(null).description('The address of a picture; null removes it.'),
    hidden: Joi.boolean()
      .strict()
      .allow(null)
      .description(
        'True removes address and username of the wallet from the holders and the activity of markets; null is false, as for a new wallet.',
      ),
    portfolioPublic: Joi.boolean()
      .strict()
      .allow(null)
      .description(
        'True lets everybody read the positions and the portfolio of the wallet, and ranks it in the leaderboard unless it is `hidden`; null is false, as for a new wallet.',
      ),
  }).required(),
);

/** PATCH /admin/profiles/{address}: an operator can clear members, and mute the wallet. */
export interface ProfileReset {
  readonly muted?: boolean;
  readonly username?: null;
  readonly bio?: null;
  readonly avatarUrl?: null;
}

export const profileResetShape = createShape<ProfileReset>(
  Joi.object({
    username: Joi.valid(null).description('A null removes the username.'),
    bio: Joi.valid(null).description('A null removes the text.'),
    avatarUrl: Joi.valid(null).description('A null removes the picture.'),
    muted: Joi.boolean()
      .strict()
      .description(
        'True hides the comments and the profile of the wallet and refuses new comments; false shows them again.',
      ),
  }).required(),
);

export interface CommentBody {
  readonly body: string;
  readonly parentId?: string | null;
}

/** The shape does not check whether the answered comment exists. */
export const commentShape = createShape<CommentBody>(
  Joi.object({
    body: text(COMMENT_MAX, (value) => VISIBLE.test(value))
      .pattern(FEW_LINES, `text with at most ${LINE_ENDS_MAX} line ends`)
      .required()
      .description('The text.'),
    parentId: Joi.string()
      .max(COMMENT_ID_MAX)
      .allow(null)
      .description('The comment that this one answers; left out or null, it answers none.'),
  }).required(),
);

const COMMENT_ID = /^([0-9a-z]{8})-c([1-9][0-9]{0,9})$/;

/** The id of a comment contains its market and its number there. */
export const commentId = (marketId: string, number: number): string => `${marketId}-c${number}`;

/** Null for a text that is no id of a comment. */
export function parseCommentId(text: string): { readonly marketId: string; readonly number: number } | null {
  const parts = COMMENT_ID.exec(text);
  return parts ? { marketId: parts[1] ?? '', number: Number(parts[2]) } : null;
}
