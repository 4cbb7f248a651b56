/** Users and the audit log in memory. Passwords are hashed by the real algorithm, at its lowest cost. */
import { randomBytes } from 'node:crypto';
import { userCommands } from '#actors/commands/users.ts';
import type { Gateway } from '#actors/gateway.ts';
import type { AuditEntry, AuditNote, AuditQuery, User } from '#actors/model.ts';
import type { AuditStore, UserRow, UserStore } from '#actors/ports.ts';
import { createOneTimeCodes, createPasswords } from '#src/users/credentials.ts';

/** A password hasher with the lowest cost, because tests of permissions do not need slow hashes. */
export const cheapPasswords = createPasswords({ memory: 8, passes: 1, parallelism: 1 });

interface Kept {
  row: UserRow;
  step: number;
}

const shown = ({ id, name, role, hasCode, createdAt, lastSignInAt }: UserRow): User => ({
  id,
  name,
  role,
  hasCode,
  createdAt,
  lastSignInAt,
});

export class FakeUsers implements UserStore {
  readonly rows = new Map<string, Kept>();

  readonly #find = (fits: (row: UserRow) => boolean): UserRow | null => [...this.rows.values()].find(({ row }) => fits(row))?.row ?? null;

  all = async () => [...this.rows.values()].map(({ row }) => shown(row)).toSorted((a, b) => a.name.localeCompare(b.name));
  byName = async (name: string) => this.#find((row) => row.name === name);
  byId = async (id: string) => this.#find((row) => row.id === id);
  add: UserStore['add'] = async (user, most) => {
    if (this.rows.size >= most) return 'full';
    if (this.#find((row) => row.name === user.name) !== null) return 'taken';
    this.rows.set(user.id, { row: { ...user, codeSecret: '', readable: true }, step: 0 });
    return 'added';
  };
  change: UserStore['change'] = async (id, change, version, expected) => {
    const kept = this.rows.get(id);
    if (kept === undefined || (expected !== undefined && kept.row.version !== expected)) return null;
    const { codeStep = 0, ...fields } = change;
    const row = { ...kept.row, ...fields, version };
    kept.step = Math.max(kept.step, codeStep);
    kept.row = { ...row, hasCode: row.codeSecret !== '' };
    return shown(kept.row);
  };
  remove = async (id: string) => {
    const kept = this.rows.get(id);
    this.rows.delete(id);
    return kept === undefined ? null : shown(kept.row);
  };
  signedIn: UserStore['signedIn'] = async ({ id, version }, at, step) => {
    const kept = this.rows.get(id);
    if (kept?.row.version !== version || (step !== null && step <= kept.step)) return false;
    kept.step = step ?? kept.step;
    kept.row = { ...kept.row, lastSignInAt: at };
    return true;
  };
}

export class FakeAuditLog implements AuditStore {
  rows: AuditEntry[] = [];
  /** The error with which the next write rejects. */
  failNext: Error | null = null;

  add = async (notes: readonly AuditNote[]) => {
    const { failNext } = this;
    this.failNext = null;
    if (failNext !== null) throw failNext;
    for (const note of notes) this.rows.push({ ...note, id: (this.rows.at(-1)?.id ?? 0) + 1 });
  };
  find = async ({ limit, before = Infinity }: AuditQuery) => {
    const fitting = this.rows.filter(({ id }) => id < before).toReversed();
    const entries = fitting.slice(0, limit);
    return { entries, next: fitting.length > limit ? (entries.at(-1)?.id ?? null) : null };
  };
  expire = async () => 0;
}

export const userPorts = () => ({
  users: new FakeUsers(),
  auditLog: new FakeAuditLog(),
  passwords: cheapPasswords,
  oneTimeCodes: createOneTimeCodes(),
});

type Calls = ReturnType<typeof userCommands> & Pick<Gateway, 'audit' | 'auditPage'> & { readonly audited: FakeAuditLog };

/** Returns the commands of the real gateway for users, on stores in memory. */
export const userCalls = (): Calls => {
  const audited = new FakeAuditLog();
  const commands = userCommands({
    users: new FakeUsers(),
    passwords: cheapPasswords,
    oneTimeCodes: createOneTimeCodes(),
    chance: { random: Math.random, hex: (bytes) => randomBytes(bytes).toString('hex'), token: (length) => 'x'.repeat(length) },
    time: { now: Date.now } as never,
    media: { qrPng: async (text) => `data:image/png;base64,${text}` },
  });
  return {
    ...commands,
    audited,
    audit: (note) => void audited.add([note]),
    auditPage: (query) => audited.find(query),
  };
};
