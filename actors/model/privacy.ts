/** Who may see or do what of an account, in the platform's own words. */

const people = ['all', 'contacts', 'contact_blacklist', 'none'] as const;
const allOrNone = ['all', 'none'] as const;

/**
 * `groupadd`: who adds it to groups; `last`, `status`, `profile`, `online`: who sees when it was there last, its about text, its picture, whether it is
 * there; `readreceipts`: who learns what it read; `calladd`: who may call it.
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

/** What the platform does not tell, or what is not to be changed, is absent. */
export type PrivacySettings = { readonly [Category in PrivacyCategory]?: (typeof privacyValues)[Category][number] };
