/** People: how the platform addresses them, the address book, their pictures, and what an account shows them. */

// People as the platform addresses them.

/** A person with the addresses that the platform gave. */
export interface Person {
  /** The address as the platform wrote it; '' if the platform named no person. */
  readonly id: string;
  /** The phone jid and the LID; '' for an unknown one. */
  readonly pn: string;
  readonly lid: string;
}

// People whom an account knows: entries of its address book, and people whose name the platform has reported.

/** A known person; unique by (instance, contactId). */
export interface Contact {
  /** The phone jid if it is known, else the LID. */
  readonly contactId: string;
  /** The LID; '' if unknown or equal to `contactId`. */
  readonly lid: string;
  /** The name in the owner's address book; '' for people outside the address book. */
  readonly name: string;
  /** The name that the person chose; '' if unknown. */
  readonly pushName: string;
}

export const contactScopes = ['address_book', 'outside_address_book', 'all'] as const;

export type ContactScope = (typeof contactScopes)[number];

// Pictures of people and groups, as the platform shows them to the account.

/** The kinds of pictures. `image`: the whole picture; `preview`: a small one. */
export type PictureKind = 'image' | 'preview';

/** The platform's answer about a picture. `hidden`: the account may not see the picture. */
export interface Picture {
  readonly state: 'there' | 'hidden' | 'absent';
  /** The platform's URL of the picture, valid for some days; '' if there is none. */
  readonly url: string;
}

/** The result of a look-up. `id`: the chat id; `at`: Unix milliseconds. */
export interface LookedPicture extends Picture {
  readonly id: string;
  readonly kind: PictureKind;
  readonly at: number;
}

// Privacy settings of an account, in the platform's own words.

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
