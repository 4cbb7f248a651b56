/** Storage of the posts of channels, of who saw them, and of who reacted to them. */
import { proto } from '@whiskeysockets/baileys';
import type { Digits } from '../face.ts';
import type { Database } from './database.ts';

export interface Post {
  /** The channel's jid. */
  readonly channel: string;
  /** Counts up in its channel, from 100. */
  readonly serverId: number;
  readonly id: string;
  readonly author: Digits;
  /** Unix milliseconds. */
  readonly at: number;
  /** Unix milliseconds of the last change; 0 for none. */
  readonly editedAt: number;
  /** Unix milliseconds of the last view, reaction or change. */
  readonly changedAt: number;
  /** Absent when it was taken back. */
  readonly content?: proto.IMessage;
}

export interface Counts {
  readonly views: number;
  /** Counts by emoji. */
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
  readonly #reaction;

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
    this.#reaction = sql.prepare('SELECT code FROM post_reaction WHERE channel = ? AND server_id = ? AND number = ?');
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

  /** `content`: `undefined` takes the post back. */
  change(post: Post, content: proto.IMessage | undefined): Post {
    const { content: _former, ...rest } = post;
    const now = Date.now();
    this.#change.run(content ? proto.Message.encode(content).finish() : null, now, now, post.channel, post.serverId);
    return { ...rest, editedAt: now, changedAt: now, ...(content ? { content } : {}) };
  }

  /** False when this person has seen it before. */
  see({ channel, serverId }: Post, number: Digits): boolean {
    const isNew = this.#see.run(channel, serverId, number).changes > 0;
    if (isNew) this.#touch.run(Date.now(), channel, serverId);
    return isNew;
  }

  /** `code`: an emoji; '' takes the reaction back. */
  react({ channel, serverId }: Post, number: Digits, code: string): void {
    if (code === '') this.#unreact.run(channel, serverId, number);
    else this.#react.run(channel, serverId, number, code);
    this.#touch.run(Date.now(), channel, serverId);
  }

  /** The emoji with which a person reacted, '' for none. */
  reactionOf({ channel, serverId }: Post, number: Digits): string {
    return String(this.#reaction.get(channel, serverId, number)?.['code'] ?? '');
  }

  counts({ channel, serverId }: Post): Counts {
    const reactions = this.#reactions.all(channel, serverId).map((row) => [String(row['code']), Number(row['count'])] as const);
    return { views: Number(this.#views.get(channel, serverId)?.['count'] ?? 0), reactions: Object.fromEntries(reactions) };
  }

  /** The newest posts before a number, newest first. */
  before(channel: string, serverId: number, limit: number): Post[] {
    return this.#pages.newest.all(channel, serverId, limit).map(toPost);
  }

  /** The oldest posts after a number that changed since a time (Unix milliseconds), oldest first. */
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
