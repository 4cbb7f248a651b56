/** Sessions for imports and exports, in memory. */
import type { Gateway, ImportedSession } from '#actors/gateway.ts';
import { done, refuse, type Claim, type Result } from '#actors/model.ts';
import type { ArchivedRows, Arrival, Landing, MovedKey, MovingSources, SessionStore } from '#actors/ports.ts';
import type { FakeDatabase } from './storage.ts';

export class FakeSessions implements SessionStore {
  /** The stored sessions, by instance. */
  readonly landed = new Map<string, Landing>();
  /** Called before a session is stored. */
  before: (claim: Claim) => void | Promise<void> = () => undefined;
  readonly #db: FakeDatabase;

  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  async land(claim: Claim, landing: Landing): Promise<'stored' | 'elsewhere'> {
    await this.before(claim);
    return this.#db.run('sessions.land', () => {
      const record = landing.fresh ?? this.#db.instances.get(claim.instanceId);
      const other = [...this.#db.instances.values()].some(({ id, jid }) => jid === landing.patch.jid && id !== claim.instanceId);
      if (record === undefined || other) return 'elsewhere';
      this.#db.instances.set(record.id, { ...record, ...landing.patch });
      this.landed.set(record.id, landing);
      for (const webhook of landing.webhooks) this.#db.webhooks.set(webhook.id, webhook);
      return 'stored';
    });
  }

  cleared = () => this.#db.run('sessions.cleared', () => undefined);

  credentials = (id: string) => this.#db.run('sessions.credentials', () => this.landed.get(id)?.credentials ?? null);

  async *keys(id: string): AsyncIterable<MovedKey> {
    yield* this.landed.get(id)?.keys ?? [];
  }

  async *rows(id: string): AsyncIterable<ArchivedRows> {
    yield { of: 'chats', rows: this.#db.chatsOf(id).map((chat) => ({ ...chat })) };
    yield { of: 'messages', rows: this.#db.messagesOf(id).map((message) => ({ ...message })) };
  }
}

export class FakeSources implements MovingSources {
  /** The content of the next uploads. */
  arrivals: readonly Arrival[] = [];
  /** The settings that the written archives do not take over. */
  readonly lost: string[] = [];
  /** The ends of the last connections in the written archives. */
  readonly endedAt: (number | null)[] = [];

  async receive(): Promise<Result<AsyncIterable<Arrival>>> {
    const { arrivals } = this;
    return done(
      (async function* () {
        yield* arrivals;
      })(),
    );
  }

  async *archive(sessions: Parameters<MovingSources['archive']>[0]): AsyncIterable<Uint8Array> {
    for await (const { name, credentials, endedAt, lost, keys, rows } of sessions) {
      for await (const _ of keys());
      this.lost.push(...lost);
      this.endedAt.push(endedAt);
      yield Buffer.from(`${name} ${credentials}\n`);
      if (rows) for await (const piece of rows()) yield Buffer.from(`${piece.of} ${piece.rows.length}\n`);
    }
  }
}

const imported: ImportedSession = {
  name: 'shop',
  outcome: 'imported',
  instance: 'r1',
  token: 'token',
  number: '5511988887777',
  keys: 843,
  chats: 0,
  messages: 0,
  reason: 'the instance r1 has it',
  notes: [],
  lost: [],
};

export const movingCalls: Pick<Gateway, 'importSessions' | 'exportSessions'> = {
  async importSessions(upload, { from }) {
    let size = 0;
    for await (const chunk of upload) size += chunk.length;
    return from === 'folder' ? done([{ ...imported, keys: size }]) : refuse('invalid', 'from must be one of folder');
  },
  exportSessions: async ({ instances }) =>
    instances.includes('unknown')
      ? refuse('notFound', 'there is no instance unknown')
      : done(
          (async function* () {
            yield Buffer.from('an archive');
          })(),
        ),
};
