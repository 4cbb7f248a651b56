/** Storage of the messages that simulated phones received and wrote. */
import { proto } from '@whiskeysockets/baileys';
import type { ReceivedMessage } from '../face.ts';
import { decode, encode, type Database } from './database.ts';

/** The receipt that the phone's owner gave for a message. */
export type Confirmed = 'none' | 'delivered' | 'read' | 'played';

/** A message in a phone's chats. `author` is '' for the phone's own messages. */
export interface Stored {
  readonly owner: string;
  readonly id: string;
  /** The chat's jid as the owner sees it. */
  readonly chat: string;
  readonly author: string;
  /** Unix time in milliseconds. */
  readonly at: number;
  /** Number of decryptions that failed. */
  readonly attempts: number;
  readonly confirmed: Confirmed;
  /** Absent until the message could be decrypted. */
  readonly content?: proto.IMessage;
  /** Absent for the owner's own messages. */
  readonly view?: ReceivedMessage;
  /** Facts that are needed when the message is sent again or confirmed. */
  readonly extra: Extra;
}

export interface Extra {
  readonly addressing: 'pn' | 'lid';
  /** Stanza attribute `edit`; that of an own message is repeated when it is sent again. */
  readonly edit?: string;
}

/** Messages that a phone keeps at most, and the number of writes after which older ones are deleted. */
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
  #written = 0;

  constructor({ sql }: Database) {
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
    this.#written += 1;
    if (this.#written % clearEvery === 0) this.#clear.run(owner, maxKept);
  }

  /** Finds a message by its id, and by its author when `author` is given. */
  find(owner: string, id: string, author?: string): Stored | undefined {
    const rows = this.#find.all(owner, id);
    const row = author === undefined ? rows[0] : rows.find((one) => one['author'] === author);
    return row && toStored(row);
  }

  /** The owner's last messages, oldest first. */
  latest(owner: string, limit: number): Stored[] {
    return this.#owned.all(owner, limit).map(toStored);
  }

  /** Messages of one chat, own ones too, oldest first. */
  everything(owner: string, chat: string): Stored[] {
    return this.#chat.all(owner, chat).map(toStored);
  }

  /** Received messages of one chat, oldest first. */
  inChat(owner: string, chat: string): Stored[] {
    return this.#open.all(owner, chat).map(toStored);
  }

  /** The last received message of one chat. */
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
