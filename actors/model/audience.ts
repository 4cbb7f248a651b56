/** Who sees a status post. */

/** The chat of all status posts. */
export const statusChat = 'status@broadcast';

/** Somebody with whom the account has a chat. */
export interface KnownContact {
  readonly chatId: string;
  /** '' when it is not known. */
  readonly chatLid: string;
  /** How the account knows the person: by its address book, by the name that the person gave itself, or by number only. */
  readonly known: 'named' | 'pushName' | 'number';
}

/** Who shall see it, as it was asked for. */
export interface AudienceWish {
  /** Numbers and ids as the client wrote them; null for those whom the privacy setting of the account names. */
  readonly recipients: readonly string[] | null;
  /** Recipients at most; 0 for as many as the gateway allows. */
  readonly most: number;
  /** Read from storage when the message is accepted; empty when `recipients` are given. */
  readonly contacts: readonly KnownContact[];
}

/** How the post got its recipients; counts are of people. */
export interface AudienceReport {
  /** The recipients were given; otherwise they follow the privacy setting. */
  readonly explicit: boolean;
  /** The platform holds no privacy setting of the account, so that its usual one counts. */
  readonly usualPrivacy: boolean;
  readonly contacts: Readonly<Record<KnownContact['known'], number>>;
  readonly requested: number;
  readonly resolved: number;
  readonly discarded: number;
  /** The first ones of the discarded. */
  readonly examples: readonly { readonly input: string; readonly reason: string }[];
  readonly most: number;
}

/** Who sees it. Stored with the message: it may have to be sent again. */
export interface Audience {
  /** What the post says about the choice: the contacts, only some, or all but some. */
  readonly setting: 'contacts' | 'allowlist' | 'denylist';
  /** Jids without device, all LIDs or all numbers, as the account is addressed. */
  readonly recipients: readonly string[];
  readonly report: AudienceReport;
}
