/** The audience of a status post. */

/** The chat id of all status posts. */
export const statusChat = 'status@broadcast';

/** A person with whom the account has a chat. */
export interface KnownContact {
  readonly chatId: string;
  /** The LID of the person; '' if unknown. */
  readonly chatLid: string;
  /** The account knows the person from its address book, by the name that the person chose, or by number only. */
  readonly known: 'named' | 'pushName' | 'number';
}

/** The audience that the client asked for. */
export interface AudienceWish {
  /** Numbers and ids as the client wrote them. Null selects the recipients by the privacy setting of the account. */
  readonly recipients: readonly string[] | null;
  /** The largest number of recipients; 0 for the gateway's own limit. */
  readonly most: number;
  /** Contacts that were read from storage when the message was accepted. Empty if `recipients` are given. */
  readonly contacts: readonly KnownContact[];
}

/** The report of how the recipients of a post were selected. Counts are numbers of people. */
export interface AudienceReport {
  /** True if the client gave the recipients; false if they follow the privacy setting. */
  readonly explicit: boolean;
  /** True if the platform holds no privacy setting of the account, so that the platform's default applies. */
  readonly usualPrivacy: boolean;
  readonly contacts: Readonly<Record<KnownContact['known'], number>>;
  readonly requested: number;
  readonly resolved: number;
  readonly discarded: number;
  /** The first discarded recipients, as examples. */
  readonly examples: readonly { readonly input: string; readonly reason: string }[];
  readonly most: number;
}

/** The selected audience. The audience is stored with the message, because a retry needs the same recipients. */
export interface Audience {
  /** The setting that the post announces: all contacts, only some, or all but some. */
  readonly setting: 'contacts' | 'allowlist' | 'denylist';
  /** Jids without a device. All are LIDs or all are numbers, depending on the addressing of the account. */
  readonly recipients: readonly string[];
  readonly report: AudienceReport;
}
