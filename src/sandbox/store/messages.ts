/** Storage of the messages of simulated people, and of the posts of channels. */
import { proto } from '@whiskeysockets/baileys';
import type { Digits, ReceivedMessage } from '../interface.ts';
import { type Database, decode, encode } from './database.ts';

// Storage of the messages that simulated phones received and wrote.

/** The most advanced receipt that was sent for a message. */
export type Confirmed = 'none' | 'delivered' | 'read' | 'played';

/** A message in a phone's chats. `author` is '' for the phone's own messages. */
export interface Stored {
  readonly owner: string;
  readonly id: string;
  /** The chat's jid as the owner sees it. */
  readonly chat: string;
  readonly author: string;
  /** The time of the message, in Unix milliseconds. */
  readonly at: number;
  /** Number of decryptions that failed. */
  readonly attempts: number;
  readonly confirmed: Confirmed;
  /** Absent until the message could be decrypted. */
  readonly content?: proto.IMessage;
  /** Absent for the owner's own messages and for calls. */
  readonly view?: ReceivedMessage;
  /** Facts that are needed when the message is sent again or confirmed. */
  readonly extra: Extra;
}

interface Extra {
  readonly addressing: 'pn' | 'lid';
  /** Stanza attribute `edit`. A repetition of an own message needs the attribute again. */
  readonly edit?: string;
}

/**
 * The number of newest messages that each phone keeps. The phone's first write after a start, and each `clearEvery`th write after that, delete older messages.
 */
const maxKept = 20_000;
const clearEvery = 1000;

export class MessageStore {
  readonly #put;
  readonly #find;
  readonly #owned;
  readonly #confirm;
  readonly #open;
  readonly #last;
  readonly #chat;
  readonly #clear;
  readonly #kept: number;
  /** The number of writes of each phone since the start. */
  readonly #written = new Map<string, number>();

  /** `kept`: the largest number of messages of a phone. */
  constructor({ sql }: Database, kept = maxKept) {
    this.#kept = kept;
    this.#put = sql.prepare(
      `INSERT INTO message (owner, id, chat, author, at, attempts, confirmed, content, view, extra) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (owner, id, author) DO UPDATE SET attempts = excluded.attempts, content = excluded.content, view = excluded.view`,
    );
    this.#find = sql.prepare('SELECT * FROM message WHERE owner = ? AND id = ? ORDER BY seq DESC');
    this.#owned = sql.prepare('SELECT * FROM (SELECT * FROM message WHERE owner = ? ORDER BY seq DESC LIMIT ?) ORDER BY seq');
    this.#confirm = sql.prepare('UPDATE message SET confirmed = ? WHERE owner = ? AND id = ? AND author = ?');
    this.#clear = sql.prepare(
      'DELETE FROM message WHERE owner = ?1 AND seq <= (SELECT seq FROM message WHERE owner = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)',
    );
    this.#chat = sql.prepare('SELECT * FROM message WHERE owner = ? AND chat = ? AND content IS NOT NULL ORDER BY seq');
    this.#open = sql.prepare('SELECT * FROM message WHERE owner = ? AND chat = ? AND view IS NOT NULL ORDER BY seq');
    this.#last = sql.prepare('SELECT * FROM message WHERE owner = ? AND chat = ? AND view IS NOT NULL ORDER BY seq DESC LIMIT 1');
  }

  put(message: Stored): void {
    const content = message.content ? proto.Message.encode(message.content).finish() : null;
    const view = message.view ? encode(message.view) : null;
    const { owner, id, chat, author, at, attempts, confirmed } = message;
    this.#put.run(owner, id, chat, author, at, attempts, confirmed, content, view, encode(message.extra));
    const written = this.#written.get(owner) ?? 0;
    this.#written.set(owner, written + 1);
    if (written % clearEvery === 0) this.#clear.run(owner, this.#kept);
  }

  /** Finds a message by its id, and by its author when `author` is given. */
  find(owner: string, id: string, author?: string): Stored | undefined {
    const rows = this.#find.all(owner, id);
    const row = author === undefined ? rows[0] : rows.find((one) => one['author'] === author);
    return row && toStored(row);
  }

  /** Returns the owner's last messages, oldest first. */
  latest(owner: string, limit: number): Stored[] {
    return this.#owned.all(owner, limit).map(toStored);
  }

  /** Returns the messages of one chat, including own ones, oldest first. */
  everything(owner: string, chat: string): Stored[] {
    return this.#chat.all(owner, chat).map(toStored);
  }

  /** Returns the received messages of one chat, oldest first. */
  inChat(owner: string, chat: string): Stored[] {
    return this.#open.all(owner, chat).map(toStored);
  }

  /** Returns the last received message of one chat. */
  lastIn(owner: string, chat: string): Stored | undefined {
    const row = this.#last.get(owner, chat);
    return row && toStored(row);
  }

  confirm(message: Stored, confirmed: Confirmed): void {
    this.#confirm.run(confirmed, message.owner, message.id, message.author);
  }
}

function toStored(row: Record<string, unknown>): Stored {
  return {
    owner: String(row['owner']),
    id: String(row['id']),
    chat: String(row['chat']),
    author: String(row['author']),
    at: Number(row['at']),
    attempts: Number(row['attempts']),
    confirmed: String(row['confirmed']) as Confirmed,
    ...(row['content'] ? { content: proto.Message.decode(row['content'] as Uint8Array) } : {}),
    ...(row['view'] ? { view: decode<ReceivedMessage>(row['view']) } : {}),
    extra: decode<Extra>(row['extra']),
  };
}

// Storage of channel posts, their viewers and their reactions.

export interface Post {
  /** The channel's jid. */
  readonly channel: string;
  /** The number of the post in its channel, counted from 100. */
  readonly serverId: number;
  readonly id: string;
  readonly author: Digits;
  /** The time of the post, in Unix milliseconds. */
  readonly at: number;
  /** The time of the last change, in Unix milliseconds; 0 if there was none. */
  readonly editedAt: number;
  /** The time of the last view, reaction or change, in Unix milliseconds. */
  readonly changedAt: number;
  /** Absent if the post was deleted. */
  readonly content?: proto.IMessage;
}

export interface Counts {
  readonly views: number;
  /** The number of reactions with each emoji. */
  readonly reactions: Readonly<Record<string, number>>;
}

/** The number of the first post of a channel. */
const firstId = 100;

export class PostStore {
  readonly #db: Database;
  readonly #next;
  readonly #add;
  readonly #byNumber;
  readonly #byId;
  readonly #change;
  readonly #touch;
  readonly #pages;
  readonly #see;
  readonly #react;
  readonly #unreact;
  readonly #views;
  readonly #reactions;

  constructor(db: Database) {
    const { sql } = db;
    this.#db = db;
    this.#next = sql.prepare(`SELECT coalesce(max(server_id), ${firstId - 1}) + 1 AS next FROM post WHERE channel = ?`);
    this.#add = sql.prepare(
      'INSERT INTO post (channel, server_id, id, author, at, edited_at, changed_at, content) VALUES (?, ?, ?, ?, ?, 0, ?, ?)',
    );
    this.#byNumber = sql.prepare('SELECT * FROM post WHERE channel = ? AND server_id = ?');
    this.#byId = sql.prepare('SELECT * FROM post WHERE channel = ? AND id = ?');
    this.#change = sql.prepare('UPDATE post SET content = ?, edited_at = ?, changed_at = ? WHERE channel = ? AND server_id = ?');
    this.#touch = sql.prepare('UPDATE post SET changed_at = ? WHERE channel = ? AND server_id = ?');
    this.#pages = {
      newest: sql.prepare('SELECT * FROM post WHERE channel = ? AND server_id < ? ORDER BY server_id DESC LIMIT ?'),
      oldest: sql.prepare('SELECT * FROM post WHERE channel = ? AND server_id > ? AND changed_at >= ? ORDER BY server_id LIMIT ?'),
    };
    this.#see = sql.prepare('INSERT OR IGNORE INTO post_view (channel, server_id, number) VALUES (?, ?, ?)');
    this.#react = sql.prepare(
      'INSERT INTO post_reaction (channel, server_id, number, code) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET code = excluded.code',
    );
    this.#unreact = sql.prepare('DELETE FROM post_reaction WHERE channel = ? AND server_id = ? AND number = ?');
    this.#views = sql.prepare('SELECT count(*) AS count FROM post_view WHERE channel = ? AND server_id = ?');
    this.#reactions = sql.prepare(
      'SELECT code, count(*) AS count FROM post_reaction WHERE channel = ? AND server_id = ? GROUP BY code ORDER BY code',
    );
  }

  add({ channel, id, author, content }: Pick<Post, 'channel' | 'id' | 'author'> & { readonly content: proto.IMessage }): Post {
    return this.#db.atomically(() => {
      const serverId = Number(this.#next.get(channel)?.['next']);
      const at = Date.now();
      this.#add.run(channel, serverId, id, author, at, at, proto.Message.encode(content).finish());
      return { channel, serverId, id, author, at, editedAt: 0, changedAt: at, content };
    });
  }

  find(channel: string, serverId: number): Post | undefined {
    const row = this.#byNumber.get(channel, serverId);
    return row && toPost(row);
  }

  byId(channel: string, id: string): Post | undefined {
    const row = this.#byId.get(channel, id);
    return row && toPost(row);
  }

  /** Changes a post. `undefined` as `content` deletes the post. */
  change(post: Post, content: proto.IMessage | undefined): Post {
    const { content: _former, ...rest } = post;
    const now = Date.now();
    this.#change.run(content ? proto.Message.encode(content).finish() : null, now, now, post.channel, post.serverId);
    return { ...rest, editedAt: now, changedAt: now, ...(content ? { content } : {}) };
  }

  /** Stores a view. Returns false if this person has seen the post before. */
  see({ channel, serverId }: Post, number: Digits): boolean {
    const isNew = this.#see.run(channel, serverId, number).changes > 0;
    if (isNew) this.#touch.run(Date.now(), channel, serverId);
    return isNew;
  }

  /** Sets a reaction. `code` is an emoji; '' removes the reaction. */
  react({ channel, serverId }: Post, number: Digits, code: string): void {
    if (code === '') this.#unreact.run(channel, serverId, number);
    else this.#react.run(channel, serverId, number, code);
    this.#touch.run(Date.now(), channel, serverId);
  }

  counts({ channel, serverId }: Post): Counts {
    const reactions = this.#reactions.all(channel, serverId).map((row) => [String(row['code']), Number(row['count'])] as const);
    return { views: Number(this.#views.get(channel, serverId)?.['count'] ?? 0), reactions: Object.fromEntries(reactions) };
  }

  /** Returns the newest posts with a smaller number than `serverId`, newest first. */
  before(channel: string, serverId: number, limit: number): Post[] {
    return this.#pages.newest.all(channel, serverId, limit).map(toPost);
  }

  /** Returns the oldest posts with a larger number than `serverId` that changed since `since` (in Unix milliseconds), oldest first. */
  after(channel: string, serverId: number, since: number, limit: number): Post[] {
    return this.#pages.oldest.all(channel, serverId, since, limit).map(toPost);
  }
}

function toPost(row: Record<string, unknown>): Post {
  return {
    channel: String(row['channel']),
    serverId: Number(row['server_id']),
    id: String(row['id']),
    author: String(row['author']),
    at: Number(row['at']),
    editedAt: Number(row['edited_at']),
    changedAt: Number(row['changed_at']),
    ...(row['content'] ? { content: proto.Message.decode(row['content'] as Uint8Array) } : {}),
  };
}
