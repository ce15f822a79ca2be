/** Comments, profiles, API keys, and their moderation. */
export const PEOPLE_PATHS = {
  comments: '/markets/{id}/comments',
  comment: '/comments/{comment_id}',
  commentLike: '/comments/{comment_id}/like',
  profile: '/profiles/{address}',
  me: '/me',
  myProfile: '/me/profile',
  myComments: '/me/comments',
  myKeys: '/me/keys',
  myKey: '/me/keys/{key_id}',
  adminComment: '/admin/comments/{comment_id}',
  adminProfile: '/admin/profiles/{address}',
  adminAccount: '/admin/accounts/{address}',
} as const;
