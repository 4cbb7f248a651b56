/** Queries on people and groups: contacts, groups, known numbers, pictures, and definitions such as labels. */
import type { Claim, Contact, ContactScope, DefinitionKind, Group, InstanceId, Kept, LookedPicture } from '../model.ts';

// Queries of stored contacts. The journal writes contacts.

export interface ContactQuery {
  readonly scope: ContactScope;
  readonly limit: number;
  readonly offset: number;
}

export interface ContactPage {
  readonly contacts: readonly Contact[];
  /** The number of all contacts of the scope. */
  readonly total: number;
  /** The number of all contacts in the address book. */
  readonly saved: number;
}

export interface ContactStore {
  /** Returns a page of contacts. Contacts in the address book are sorted by name, others by id. */
  list(instance: InstanceId, query: ContactQuery): Promise<ContactPage>;
  /** Returns the contact in the address book under one of these ids, numbers or LIDs; null if there is none. */
  saved(instance: InstanceId, ids: readonly string[]): Promise<Contact | null>;
}

// Queries of stored groups. The journal writes groups.

export interface GroupQuery {
  /** A part of the name, case-insensitive, or the id; '' for all. */
  readonly search: string;
  /** False to leave out the members. */
  readonly members: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface NamedGroup {
  readonly id: string;
  readonly name: string;
}

export interface KnownGroups {
  /** Names of all groups by id. */
  readonly names: ReadonlyMap<string, string>;
  /** Groups that belong to a community. `isDefault` marks the announcement group. */
  readonly memberships: readonly { readonly id: string; readonly parent: string; readonly isDefault: boolean }[];
  /** URLs of the pictures of these communities; '' if unknown. */
  readonly pictures: readonly { readonly id: string; readonly image: string; readonly preview: string }[];
  /** The last time at which the platform listed all groups. Unix milliseconds; null for never. */
  readonly listedAt: number | null;
}

export interface GroupStore {
  /** Returns a page of groups in the order of their ids. `total` counts all matches. */
  find(instance: InstanceId, query: GroupQuery): Promise<{ readonly groups: readonly Group[]; readonly total: number }>;
  get(instance: InstanceId, groupId: string): Promise<Group | null>;
  /**
   * Returns groups with a member under one of these addresses (phone jid, LID), in the order of their ids. An index keeps the cost independent of the
   * number of groups.
   */
  common(instance: InstanceId, addresses: readonly string[]): Promise<readonly NamedGroup[]>;
  /** Returns the last time at which the platform listed all groups. Unix milliseconds; null for never. */
  listedAt(instance: InstanceId): Promise<number | null>;
  /** Returns the names of all groups, and the time of the last listing. */
  known(instance: InstanceId): Promise<KnownGroups>;
}

// Storage of known numbers: look-up results, and evidence from exchanged messages.

export interface StoredRecipient {
  /** The chat id of the account; '' if the number has no account. */
  readonly chatId: string;
  /** The name as a verified business at the last look-up; '' for none, null without a look-up. */
  readonly businessName: string | null;
  /** The time of the look-up. Unix milliseconds; null if exchanged messages prove that the account exists. */
  readonly at: number | null;
}

export interface RecipientStore {
  /**
   * Returns the stored knowledge of numbers; null for none. Each number comes in its forms (chat ids, the most likely first). A chat with a received
   * or delivered message counts first, then a look-up. A look-up must not be older than `knownSince`, or `absentSince` for a number without an
   * account.
   */
  find(
    instance: InstanceId,
    numbers: readonly (readonly string[])[],
    limits: { readonly knownSince: number; readonly absentSince: number },
  ): Promise<readonly (StoredRecipient | null)[]>;
  /** Stores the result of a look-up for each form. Rejects with `EpochLost` if the claim is void. */
  save(claim: Claim, forms: readonly (Omit<StoredRecipient, 'at'> & { readonly form: string })[], at: number): Promise<void>;
  /** Removes look-ups of all instances from before this time (Unix milliseconds), at most `limit`. Returns the number of removed look-ups. */
  expire(before: number, limit: number): Promise<number>;
}

/** Storage of the platform's answers about pictures. */
export interface PictureStore {
  /** Returns all stored answers for these people and groups, of any age. */
  find(instance: InstanceId, ids: readonly string[]): Promise<readonly LookedPicture[]>;
  /** Replaces the stored answer. Rejects with `EpochLost` if the claim is void. */
  save(claim: Claim, picture: LookedPicture): Promise<void>;
  /** Removes answers of all instances from before this time (Unix milliseconds), at most `limit`. Returns the number of removed answers. */
  expire(before: number, limit: number): Promise<number>;
}

/** Queries of stored definitions. The journal writes definitions. */
export interface DefinitionStore {
  /** Returns all definitions of one kind, in the order of their creation. */
  all<K extends DefinitionKind>(instance: InstanceId, of: K): Promise<readonly Kept<K>[]>;
}
