/** Privacy settings of an account, in the platform's own words. */

const people = ['all', 'contacts', 'contact_blacklist', 'none'] as const;
const allOrNone = ['all', 'none'] as const;

/**
 * The settings and their values. `groupadd`: who may add the account to groups. `last`, `online`: who sees the last visit and the presence. `status`,
 * `profile`: who sees the about text and the picture. `readreceipts`: who gets read receipts. `calladd`: who may call.
 */
export const privacyValues = {
  groupadd: people,
  last: people,
  status: people,
  profile: people,
  readreceipts: allOrNone,
  online: ['all', 'match_last_seen'],
  calladd: ['all', 'known'],
} as const;

export type PrivacyCategory = keyof typeof privacyValues;

/** The settings of an account. An absent setting is unknown, or stays unchanged. */
export type PrivacySettings = { readonly [Category in PrivacyCategory]?: (typeof privacyValues)[Category][number] };
