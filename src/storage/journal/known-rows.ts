/** Reads the stored rows that the entries of one commit concern. */
import type { Call, Chat, ChatPatch, Contact, Definition, Entry, Message, Past } from '#actors/model.ts';
import type { Runner, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/parameters.ts';
import { chatFields, type StoredMessage, storedMessageFields } from './columns.ts';
import { contactFields, contactsIn } from './contacts.ts';
import { definedIn, definitionFields } from './definitions.ts';
import { changedGroup, groupFields, groupOfRow, type GroupRow } from './groups.ts';
import type { Known } from './outcome.ts';

// The keys of everything that entries are about: it is read before the ledger starts.

interface PostNumber {
  readonly chatId: string;
  readonly serverId: number;
}

interface Concerned {
  /** Messages that may be stored already. */
  readonly messageIds: ReadonlySet<string>;
  /** Messages that changed. Their chats are read too, under any of their ids. */
  readonly updatedIds: ReadonlySet<string>;
  readonly chatIds: ReadonlySet<string>;
  /** People whose names an entry names. */
  readonly contactIds: ReadonlySet<string>;
  /** Ids of definitions, of whatever kind. */
  readonly definitionIds: ReadonlySet<string>;
  /** Groups that changed. */
  readonly groupIds: ReadonlySet<string>;
  /** Posts of channels that are named by their number. */
  readonly posts: readonly PostNumber[];
}

export const concernedBy = (entries: readonly Entry[]): Concerned => {
  const messageIds = new Set<string>();
  const updatedIds = new Set<string>();
  const chatIds = new Set<string>();
  const groupIds = new Set<string>();
  const contactIds = new Set<string>();
  const definitionIds = new Set<string>();
  const posts: PostNumber[] = [];
  const message = ({ messageId, chatId }: Message): void => {
    messageIds.add(keyText(messageId));
    chatIds.add(keyText(chatId));
  };
  const chat = ({ chatId }: Pick<ChatPatch, 'chatId'>): void => void chatIds.add(keyText(chatId));
  const call = ({ id, chatId }: Call): void => {
    messageIds.add(keyText(id));
    chatIds.add(keyText(chatId));
  };
  const past = (part: Past): void => {
    if (part.of === 'messages') for (const item of part.items) message(item.message);
    if (part.of === 'calls') for (const item of part.items) call(item);
    if (part.of === 'chats' || part.of === 'chat_labels') for (const item of part.items) chat(item);
  };
  for (const entry of entries) {
    if ((entry.kind === 'message' || entry.kind === 'status') && entry.revises) messageIds.add(keyText(entry.revises.messageId));
    if (entry.kind === 'message' || entry.kind === 'queued' || entry.kind === 'postEdited') message(entry.message);
    if (entry.kind === 'postCounts') for (const { serverId } of entry.counts) posts.push({ chatId: keyText(entry.chatId), serverId });
    if (entry.kind === 'composed') updatedIds.add(keyText(entry.message.messageId));
    if (entry.kind === 'status' || entry.kind === 'messagesRead') for (const id of entry.messageIds) updatedIds.add(keyText(id));
    if (entry.kind === 'deleted' || entry.kind === 'downloaded' || entry.kind === 'starred') updatedIds.add(keyText(entry.messageId));
    if (entry.kind === 'chat') chat(entry.chat);
    if (entry.kind === 'retagged' || entry.kind === 'chatErased') chat(entry);
    if (entry.kind === 'chatRead' || entry.kind === 'chatUnread' || entry.kind === 'chatRemoved' || entry.kind === 'chatLabel') chat(entry);
    if (entry.kind === 'news' && entry.news.type === 'call') call(entry.news.call);
    if (entry.kind === 'history') past(entry.past);
    if (entry.kind === 'samePerson')
      for (const { chatId, chatLid } of entry.people) for (const id of [chatId, chatLid]) chatIds.add(keyText(id));
    for (const id of contactsIn(entry)) contactIds.add(id);
    for (const id of definedIn(entry)) definitionIds.add(id);
    const groupId = changedGroup(entry);
    if (groupId !== null) groupIds.add(groupId);
  }
  return { messageIds, updatedIds, chatIds, groupIds, contactIds, definitionIds, posts };
};

/** Messages of the instance $1 by their ids: one look at the index for each, however few rows the instance seems to have. */
const messagesOf = (ids: string): string => `unnest(${ids}::text[]) as wanted,
          lateral (select * from message where instance_id = $1 and message_id = wanted offset 0) as message`;

export const knownStatements = {
  /** $2 platform ids of all messages concerned, $3 chats concerned, $4 ids whose chats are concerned too, $5 groups, $6 contacts. Those of chats that are not stored name them. */
  known: {
    name: 'journal-known',
    text: `select
      (select json_agg(m) from (
        select ${storedMessageFields} from ${messagesOf('$2')} order by message.seq) as m) as messages,
      (select json_agg(c) from (
        select ${chatFields} from chat where instance_id = $1 and chat_id = any(
          $3::text[] || array(select message.chat_id from ${messagesOf('$4')}))
        order by chat_id) as c) as chats,
      (select json_agg(g) from (
        select ${groupFields} from chat_group where instance_id = $1 and group_id = any($5::text[]) order by group_id) as g) as groups,
      (select json_agg(k) from (
        select ${contactFields} from contact where instance_id = $1 and contact_id = any($6::text[] || array(
          select id from unnest($3::text[]) as concerned (id)
            where id <> all(array(select chat_id from chat where instance_id = $1 and chat_id = any($3::text[])))))
        order by contact_id) as k) as contacts`,
  },
  /** $2 ids. */
  definitions: {
    name: 'journal-definitions',
    text: `select ${definitionFields} from definition where instance_id = $1 and id = any($2::text[])`,
  },
  /** $2 channels and $3 numbers, of one post each. */
  posts: {
    name: 'journal-posts',
    text: `select ${storedMessageFields} from unnest($2::text[], $3::bigint[]) as wanted (channel, number), lateral (
        select * from message where instance_id = $1 and chat_id = wanted.channel and post is not null
          and (post ->> 'serverId')::bigint = wanted.number offset 0) as message`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface KnownRow {
  readonly messages: readonly StoredMessage[] | null;
  readonly chats: readonly Chat[] | null;
  readonly groups: readonly GroupRow[] | null;
  readonly contacts: readonly Contact[] | null;
}

/** Posts by their numbers, without those that were read by their ids. */
const readPosts = async (
  runner: Runner,
  instance: string,
  posts: Concerned['posts'],
  known: readonly StoredMessage[],
): Promise<readonly StoredMessage[]> => {
  if (posts.length === 0) return [];
  const values = [instance, posts.map(({ chatId }) => chatId), posts.map(({ serverId }) => serverId)];
  const rows = await runner.rows<StoredMessage>(knownStatements.posts, values);
  return rows.filter((row) => !known.some(({ messageId, chatId }) => messageId === row.messageId && chatId === row.chatId));
};

export const readKnown = async (runner: Runner, instance: string, entries: readonly Entry[]): Promise<Known> => {
  const concerned = concernedBy(entries);
  const known = await readNamed(runner, instance, concerned);
  const posts = await readPosts(runner, instance, concerned.posts, known.messages);
  return posts.length === 0 ? known : { ...known, messages: [...known.messages, ...posts] };
};

const readNamed = async (
  runner: Runner,
  instance: string,
  { messageIds, updatedIds, chatIds, groupIds, contactIds, definitionIds }: Concerned,
): Promise<Known> => {
  // Definitions change seldom: commits without any, which is nearly every one, do not ask for them.
  const definitions =
    definitionIds.size === 0 ? [] : await runner.rows<Definition>(knownStatements.definitions, [instance, [...definitionIds]]);
  if (messageIds.size + updatedIds.size + chatIds.size + groupIds.size === 0)
    return { messages: [], chats: [], groups: [], contacts: [], definitions };
  const [row] = await runner.rows<KnownRow>(knownStatements.known, [
    instance,
    [...messageIds.union(updatedIds)],
    [...chatIds],
    [...updatedIds],
    [...groupIds],
    [...contactIds],
  ]);
  return {
    messages: row?.messages ?? [],
    chats: row?.chats ?? [],
    groups: (row?.groups ?? []).map(groupOfRow),
    contacts: row?.contacts ?? [],
    definitions,
  };
};
