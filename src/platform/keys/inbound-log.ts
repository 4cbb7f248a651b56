/**
 * The durable log of received messages. It contains each message from its arrival until all resulting entries are stored.
 *
 * The library acknowledges a message before its entries are stored, and the platform deletes acknowledged messages. After a kill, the messages in the log are
 * handed to the library again.
 */
import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Log } from '#actors/ports.ts';
import { FinishedNames, finishedType, type Page } from './finished-names.ts';
import type { KeyWriter } from './key-writer.ts';
import { StorageRetry, type Vault } from '../wire/vault-port.ts';
import { hashOf, plainType } from './ratchets.ts';
import { decodeStanza, encodeStanza } from '../wire/stanza-codec.ts';

interface InboundOptions {
  readonly vault: Vault;
  readonly instance: string;
  readonly epoch: number;
  readonly log: Log;
  readonly writer: Pick<KeyWriter, 'put' | 'finish' | 'flush'>;
  /** True if the last run of this session may have ended uncleanly. A message in the log may be the cause. */
  readonly suspicious: boolean;
  now(): number;
  /** Reports that the log failed for good, so that the session must be closed. */
  failed(error: unknown): void;
}

/** A message that is not in the log yet. */
export interface Unlogged {
  readonly node: BinaryNode;
  readonly name: string;
  readonly encoded: Uint8Array;
}

/** A message in the log. */
export interface Logged {
  readonly seq: number;
  readonly node: BinaryNode;
  readonly name: string;
  /** The number of times that the library got the message before a crash of the session; null for a message that arrived since the last crash. */
  tries: number | null;
  /** True if the library got the message since the last crash, and this try is counted in the storage. */
  counted: boolean;
}

/**
 * Resolves with true when all data of a message is stored, so the message may leave the log. Resolves with false if the data can never be stored. Never
 * rejects.
 */
export type Stored = () => Promise<boolean>;

interface Finishing {
  readonly message: Logged;
  readonly stored: Stored;
}

/** The number of tries after which a message is set aside. */
const mostTries = 5;

/** The state of an earlier run that is stored among the keys. */
interface LeftBehind {
  /** Decrypted plaintexts, by the hash of their ciphertext. */
  readonly plaintexts: ReadonlyMap<string, Uint8Array>;
  readonly finished: Iterable<Page>;
}

const hashesOf = ({ content }: BinaryNode): string[] =>
  Array.isArray(content)
    ? content.flatMap((child) => (child.tag === 'enc' && child.content instanceof Uint8Array ? [hashOf(child.content)] : []))
    : [];

/** Returns the values that distinguish a channel post from its edits, which have the same id. Returns an empty list for other messages. */
const postParts = ({ attrs, content }: BinaryNode): readonly (string | undefined)[] => {
  const children = Array.isArray(content) ? content : [];
  const post = children.find(({ tag }) => tag === 'plaintext');
  if (post === undefined) return [];
  const text = post.content instanceof Uint8Array ? hashOf(post.content) : '';
  return [attrs['edit'], children.find(({ tag }) => tag === 'meta')?.attrs['msg_edit_t'], text];
};

/**
 * Returns the name of a stanza, which is the same for each repetition. The name contains the hashes of the ciphertexts, so that a message which the sender
 * encrypted again has another name. The name has 96 bits, so collisions are negligible.
 */
const nameOf = (node: BinaryNode): string => {
  const { id, from, participant, type } = node.attrs;
  const parts = node.tag === 'message' ? [...hashesOf(node), ...postParts(node)] : [node.tag, type];
  return hashOf([id, from, participant, ...parts].join(' ')).slice(0, 16);
};

export class InboundLog {
  readonly #options: InboundOptions;
  readonly #storageRetry: StorageRetry;
  /** Messages that the library has not finished, or whose entries could not be stored, by `seq`. */
  readonly #unfinished = new Map<number, Logged>();
  /** Names of messages that are in the log, or are being written to it. */
  readonly #names = new Set<string>();
  readonly #finished: FinishedNames;
  /** Plaintexts of unfinished messages, by the hash of the ciphertext. */
  readonly #plaintexts = new Map<string, Uint8Array>();
  /** Messages that the library has finished. Their entries may not be stored yet. */
  #finishing: Finishing[] = [];
  /** The `seq` of each message that arrived before this run or before the last crash, and that has no counted try. */
  #untried: number[] = [];
  #suspicious: boolean;
  #working = false;
  #settledWaiters: (() => void)[] = [];
  #lastSeq: number;

  constructor(options: InboundOptions) {
    this.#options = options;
    this.#suspicious = options.suspicious;
    this.#storageRetry = new StorageRetry(options.log, options.instance);
    this.#finished = new FinishedNames(options.now);
    // The first number is larger than all numbers of earlier runs, including messages that were set aside.
    this.#lastSeq = options.now() * 1000;
  }

  /** Loads the unfinished messages and the state of an earlier run. */
  async load({ plaintexts, finished }: LeftBehind): Promise<void> {
    const { vault, instance, writer } = this.#options;
    this.#finished.load(finished);
    const { stanzas, aside } = await vault.logged(instance, mostTries);
    this.#lastSeq = Math.max(this.#lastSeq, stanzas.at(-1)?.seq ?? 0);
    const wanted = new Set<string>();
    let unreadable = 0;
    for (const { seq, stanza, tries } of stanzas) {
      // A damaged row is skipped, so that the session can open.
      const node = await decodeStanza(stanza).catch(() => null);
      if (node === null) {
        unreadable += 1;
        continue;
      }
      this.#keep({ seq, node, name: nameOf(node), tries, counted: false });
      if (tries === 0) this.#untried.push(seq);
      for (const hash of hashesOf(node)) wanted.add(hash);
    }
    if (aside + unreadable > 0) this.#reportAside(aside + unreadable);
    for (const [hash, plain] of plaintexts) {
      if (wanted.has(hash)) this.#plaintexts.set(hash, plain);
      else writer.put(plainType, hash, null);
    }
  }

  plaintext(hash: string): Uint8Array | undefined {
    return this.#plaintexts.get(hash);
  }

  /** Stores a plaintext. It is written in the same transaction as the ratchet that decrypted it. */
  remember(hash: string, plain: Uint8Array): void {
    this.#plaintexts.set(hash, plain);
    this.#options.writer.put(plainType, hash, plain);
  }

  /** Returns the messages for the library at the next login, in the order of arrival. Messages with too many tries are set aside. */
  takeUnfinished(): readonly Logged[] {
    const all = [...this.#unfinished.values()].toSorted((a, b) => a.seq - b.seq);
    const aside = all.filter(({ tries }) => tries !== null && tries >= mostTries);
    for (const { seq, name } of aside) {
      this.#unfinished.delete(seq);
      // A repetition of the message is then only acknowledged.
      this.#names.delete(name);
    }
    if (aside.length > 0) this.#reportAside(aside.length);
    return aside.length === 0 ? all : all.filter(({ seq }) => this.#unfinished.has(seq));
  }

  /** Prepares an arriving message for the log. Returns null for a repetition of a message in the log, `finished` for a repetition of a finished message. */
  arrive(node: BinaryNode): Unlogged | 'finished' | null {
    const name = nameOf(node);
    if (this.#names.has(name)) return null;
    if (this.#finished.has(name)) return 'finished';
    const encoded = encodeStanza(node);
    this.#names.add(name);
    return { node, name, encoded };
  }

  /** Returns true if a stanza is the repetition of a finished stanza. */
  isFinished(node: BinaryNode): boolean {
    return this.#finished.has(nameOf(node));
  }

  /** Stores the names of finished stanzas. A repetition of such a stanza is only acknowledged. */
  rememberFinished(nodes: readonly BinaryNode[]): void {
    for (const node of nodes) this.#finished.add(nameOf(node));
    this.#saveFinished();
  }

  /** Forgets a message that will not be logged. */
  giveUp({ name }: Unlogged): void {
    this.#names.delete(name);
  }

  /** Ends the wait for the storage at the end of the connection. Waiting writes are tried once more, and reject if this try fails. */
  giveUpWaiting(): void {
    this.#storageRetry.giveUp();
  }

  /** Writes messages to the log. Waits while the storage is unavailable. Rejects if they will never be stored. */
  async append(messages: readonly Unlogged[]): Promise<readonly Logged[]> {
    const { vault, instance, epoch } = this.#options;
    const rows = messages.map(({ encoded }) => ({ seq: (this.#lastSeq += 1), stanza: encoded }));
    await this.#storageRetry.wait('stanzas', () => vault.log(instance, epoch, rows));
    return messages.map(({ node, name }, at) => this.#keep({ seq: rows[at]!.seq, node, name, tries: null, counted: false }));
  }

  /** Handles a crash of the session. Each unfinished message may be its cause. */
  suspect(): void {
    this.#suspicious = true;
    this.#untried = [];
    for (const message of this.#unfinished.values()) {
      message.tries = (message.tries ?? 0) + (message.counted ? 1 : 0);
      message.counted = false;
      if (message.tries === 0) this.#untried.push(message.seq);
    }
  }

  /**
   * Counts a try in the storage. Call this before a message is handed to the library, so that a message which crashes the process is not tried for ever. The
   * first tries of all messages are counted with one write. From the second try on, each message is counted directly before its own try. If the process
   * crashes, only the messages that were tried before the crash are then counted.
   */
  async trying(message: Logged): Promise<void> {
    const { vault, instance, epoch, writer } = this.#options;
    if (message.tries === null || message.counted || !this.#suspicious) return;
    const seqs = message.tries > 0 ? [message.seq] : this.#untried.splice(0);
    for (const seq of seqs) {
      const counted = this.#unfinished.get(seq);
      if (counted) counted.counted = true;
    }
    if (seqs.length > 0) await this.#storageRetry.wait('stanzas', () => vault.tried(instance, epoch, seqs));
    if (message.tries + 1 < mostTries) return;
    // Before the last try, the message is stored as finished. Whether the try succeeds or not, a repetition is then only acknowledged.
    this.rememberFinished([message.node]);
    await writer.flush();
  }

  /**
   * Finishes a message that the library has handled. The message leaves the log when `stored` resolves with true. `read`: true if its content was read, so that
   * a repetition is only acknowledged.
   */
  finish(message: Logged, read: boolean, stored: Stored): void {
    if (!this.#unfinished.delete(message.seq)) return;
    this.#names.delete(message.name);
    if (read) this.#finished.add(message.name);
    this.#finishing.push({ message, stored });
    if (!this.#working) void this.#finishAll();
  }

  /** True if every finished message has left the log, or leaves it with the next write of keys. */
  get idle(): boolean {
    return !this.#working;
  }

  settled(): Promise<void> {
    return this.#working ? new Promise((resolve) => this.#settledWaiters.push(resolve)) : Promise.resolve();
  }

  #keep(message: Logged): Logged {
    this.#unfinished.set(message.seq, message);
    this.#names.add(message.name);
    return message;
  }

  /** Removes finished messages from the log in batches. Messages that are finished meanwhile form the next batch. */
  async #finishAll(): Promise<void> {
    this.#working = true;
    let batch: readonly Finishing[] = [];
    try {
      while (this.#finishing.length > 0) {
        batch = this.#finishing.splice(0);
        await this.#finishBatch(batch);
      }
    } catch (error) {
      for (const { message } of batch) this.#keep(message);
      this.#options.failed(error);
    } finally {
      this.#working = false;
      for (const resolve of this.#settledWaiters.splice(0)) resolve();
    }
  }

  async #finishBatch(batch: readonly Finishing[]): Promise<void> {
    const outcomes = await Promise.all([...new Set(batch.map(({ stored }) => stored))].map((stored) => stored()));
    if (!outcomes.every(Boolean)) {
      // The messages stay in the log. The next connection or the next run hands them to the library again.
      for (const { message } of batch) this.#keep(message);
      return;
    }
    this.#options.writer.finish(batch.map(({ message }) => message.seq));
    for (const { message } of batch) for (const hash of hashesOf(message.node)) this.#forget(hash);
    this.#saveFinished();
  }

  #saveFinished(): void {
    this.#finished.save((id, page) => this.#options.writer.put(finishedType, id, page));
  }

  #forget(hash: string): void {
    if (this.#plaintexts.delete(hash)) this.#options.writer.put(plainType, hash, null);
  }

  #reportAside(count: number): void {
    const { log, instance } = this.#options;
    log.error({ instance, stanzas: count, tries: mostTries }, 'platform.stanzas-set-aside');
  }
}
