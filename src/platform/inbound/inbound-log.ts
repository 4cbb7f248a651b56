/**
 * Received messages from the moment they arrive until what they led to is stored. The platform forgets a message when the library confirms
 * it, which is before anything of it is stored: until then the stanza is kept here, and handed to the library again after a crash.
 */
import { type BinaryNode, decodeBinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import type { Log } from '#actors/ports.ts';
import { FinishedNames, type Page } from './finished-names.ts';
import type { KeyWriter } from '../keys/key-writer.ts';
import { createStorageRetry, type StorageRetry } from '../storage-retry.ts';
import { hashOf, plainType } from '../keys/ratchets.ts';
import type { Vault } from '../vault.ts';

export interface InboundOptions {
  readonly vault: Vault;
  readonly instance: string;
  readonly epoch: number;
  readonly log: Log;
  readonly writer: Pick<KeyWriter, 'put' | 'finish'>;
  /** The last run of this session did not end in order: a stanza in the log may be why. */
  readonly suspicious: boolean;
  now(): number;
}

/** A stanza of a message on its way into the log. */
export interface Stanza {
  readonly node: BinaryNode;
  readonly name: string;
  readonly encoded: Uint8Array;
}

/** A stanza of a message in the log. */
export interface Arrived {
  readonly seq: number;
  readonly node: BinaryNode;
  readonly name: string;
  /** How often it was tried before by runs that ended badly; null for one that arrived in this run. */
  readonly tries: number | null;
}

/** A stanza that was tried so often is set aside. */
const mostTries = 5;
/** Where the names of finished messages stand among the keys. */
export const finishedType = 'inbound-finished';

/** What an earlier run left among the keys. */
export interface LeftBehind {
  /** What was decrypted, by the hash of its ciphertext. */
  readonly plaintexts: ReadonlyMap<string, Uint8Array>;
  readonly finished: Iterable<Page>;
}

const hashesOf = ({ content }: BinaryNode): string[] =>
  Array.isArray(content)
    ? content.flatMap((child) => (child.tag === 'enc' && child.content instanceof Uint8Array ? [hashOf(child.content)] : []))
    : [];

/** Names a stanza by what it carries: a message that is sent again in a new envelope is another one. 96 bits: two never share one. */
const nameOf = (node: BinaryNode): string => {
  const { id, from, participant } = node.attrs;
  return hashOf([id, from, participant, ...hashesOf(node)].join(' ')).slice(0, 16);
};

export class InboundLog {
  readonly #options: InboundOptions;
  readonly #patience: StorageRetry;
  readonly #unfinished = new Map<number, Arrived>();
  /** Names of what is in the log or on its way there. */
  readonly #waiting = new Set<string>();
  readonly #finished: FinishedNames;
  /** Of unfinished messages, by hash of the ciphertext. */
  readonly #plaintexts = new Map<string, Uint8Array>();
  #finishing: { readonly arrived: Arrived; readonly stored: () => Promise<boolean> }[] = [];
  /** Left behind by an earlier run, and not tried again so far. */
  #untried: number[] = [];
  #busy = false;
  #idle: (() => void)[] = [];
  #lastSeq: number;

  constructor(options: InboundOptions) {
    this.#options = options;
    this.#patience = createStorageRetry(options.log, options.instance);
    this.#finished = new FinishedNames(options.now);
    // Larger than any number of an earlier run, those set aside included.
    this.#lastSeq = options.now() * 1000;
  }

  /** Reads what an earlier run left behind. */
  async load({ plaintexts, finished }: LeftBehind): Promise<void> {
    const { vault, instance, log, writer } = this.#options;
    this.#finished.load(finished);
    const { stanzas, aside } = await vault.logged(instance, mostTries);
    if (aside > 0) log.error({ instance, stanzas: aside, tries: mostTries }, 'platform.stanzas-set-aside');
    this.#lastSeq = Math.max(this.#lastSeq, stanzas.at(-1)?.seq ?? 0);
    const wanted = new Set<string>();
    for (const { seq, stanza, tries } of stanzas) {
      const node = await decodeBinaryNode(Buffer.from(stanza));
      this.#keep({ seq, node, name: nameOf(node), tries });
      if (tries === 0) this.#untried.push(seq);
      for (const hash of hashesOf(node)) wanted.add(hash);
    }
    for (const [hash, plain] of plaintexts) {
      if (wanted.has(hash)) this.#plaintexts.set(hash, plain);
      else writer.put(plainType, hash, null);
    }
  }

  plaintext(hash: string): Uint8Array | undefined {
    return this.#plaintexts.get(hash);
  }

  /** Set by the step that decrypted it, and stored with what that step changed. */
  remember(hash: string, plain: Uint8Array): void {
    this.#plaintexts.set(hash, plain);
    this.#options.writer.put(plainType, hash, plain);
  }

  /** In the order of arrival. */
  get unfinished(): readonly Arrived[] {
    return [...this.#unfinished.values()];
  }

  /** Null for what the platform repeats while it is in the log: its confirmation comes with the first one's. */
  arrive(node: BinaryNode): Stanza | 'finished' | null {
    const name = nameOf(node);
    if (this.#waiting.has(name)) return null;
    if (this.#finished.has(name)) return 'finished';
    this.#waiting.add(name);
    return { node, name, encoded: encodeBinaryNode(node) };
  }

  /** The stanza will not be logged. */
  giveUp({ name }: Stanza): void {
    this.#waiting.delete(name);
  }

  /** The connection ended: what waits for a storage that is away rejects. */
  giveUpWaiting(): void {
    this.#patience.giveUp();
  }

  /** Resolves when the stanzas are in the log; waits for a storage that is away. Rejects when they never will be. */
  async append(stanzas: readonly Stanza[]): Promise<readonly Arrived[]> {
    const { vault, instance, epoch } = this.#options;
    const rows = stanzas.map(({ encoded }) => ({ seq: (this.#lastSeq += 1), stanza: encoded }));
    await this.#patience.wait('stanzas', () => vault.log(instance, epoch, rows));
    return stanzas.map(({ node, name }, at) => this.#keep({ seq: rows[at]!.seq, node, name, tries: null }));
  }

  /**
   * Resolves when the try is counted, so that a stanza which ends the process is not tried for ever. First tries are counted all at once; after a
   * second crash each is counted by itself, so that only the culprit goes on counting.
   */
  async trying({ seq, tries }: Arrived): Promise<void> {
    const { vault, instance, epoch, suspicious } = this.#options;
    const seqs = tries === null || !suspicious ? [] : tries > 0 ? [seq] : this.#untried.splice(0);
    if (seqs.length > 0) await this.#patience.wait('stanzas', () => vault.tried(instance, epoch, seqs));
  }

  /**
   * The library is done with it. It leaves the log when `stored` (which never rejects) says that everything it led to is stored. `read`: what it
   * said is known, so that a repetition of the same bytes needs no more than a confirmation.
   */
  finish(arrived: Arrived, read: boolean, stored: () => Promise<boolean>): void {
    if (!this.#unfinished.delete(arrived.seq)) return;
    if (read) this.#finished.add(arrived.name);
    this.#waiting.delete(arrived.name);
    this.#finishing.push({ arrived, stored });
    if (!this.#busy) void this.#finishAll();
  }

  /** Everything that is finished has left the log, or is about to with the next write of keys. */
  get idle(): boolean {
    return !this.#busy;
  }

  settled(): Promise<void> {
    return this.#busy ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  #keep(arrived: Arrived): Arrived {
    this.#unfinished.set(arrived.seq, arrived);
    this.#waiting.add(arrived.name);
    return arrived;
  }

  async #finishAll(): Promise<void> {
    this.#busy = true;
    while (this.#finishing.length > 0) {
      const batch = this.#finishing;
      this.#finishing = [];
      const outcomes = await Promise.all([...new Set(batch.map(({ stored }) => stored))].map((stored) => stored()));
      // What is not stored stays in the log, for the next run.
      if (!outcomes.every(Boolean)) continue;
      const { writer } = this.#options;
      writer.finish(batch.map(({ arrived }) => arrived.seq));
      this.#finished.save((id, page) => writer.put(finishedType, id, page));
      for (const { arrived } of batch) for (const hash of hashesOf(arrived.node)) this.#forget(hash);
    }
    this.#busy = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #forget(hash: string): void {
    if (this.#plaintexts.delete(hash)) this.#options.writer.put(plainType, hash, null);
  }
}
