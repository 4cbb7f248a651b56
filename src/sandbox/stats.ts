/** Counters and calls since the start. Tests compare the gateway with both. */
import type { CallStep, CallView, Digits, Stats } from './interface.ts';

/** The largest number of unknown requests, and of upload hosts, that are counted by name. The bound protects the memory from a hostile client. */
const maxUnknown = 200;
const maxAddresses = 1000;

export class Counters {
  connections = { open: 0, total: 0 };
  handshakes = 0;
  pairings = 0;
  messages = { fromClients: 0, toClients: 0, acknowledged: 0, decrypted: 0, undecryptable: 0, retryReceipts: 0 };
  signatures = { verified: 0, rejected: 0 };
  lookups = { requests: 0, numbers: 0 };
  groups = { metadata: 0, lists: 0 };
  channels = { metadata: 0, lists: 0, posts: 0 };
  pictures = 0;
  media = { begun: 0, uploads: 0, resumed: 0, uploadsByHost: {} as Record<string, number>, downloads: 0 };
  /** Numbers of patches of the app state that clients sent. `patches`: stored patches. `conflicts`: patches that were based on an old version. */
  settings = { patches: 0, conflicts: 0 };
  readonly #addresses = new Map<string, { sockets: number; files: number }>();
  readonly #refusedPatches = new Map<string, number>();
  readonly #logins = { total: 0, failed: 0, double: 0, perSecondMax: 0 };
  readonly #loginsByNumber = new Map<Digits, number>();
  readonly #times = new Map<Digits, { readonly loggedIn: number; readonly closed: number }>();
  readonly #unknown = new Map<string, number>();
  #recentLogins: number[] = [];

  login(number: Digits, double: boolean, now: number): void {
    this.#logins.total += 1;
    if (double) this.#logins.double += 1;
    this.#loginsByNumber.set(number, (this.#loginsByNumber.get(number) ?? 0) + 1);
    this.#times.set(number, { closed: 0, ...this.#times.get(number), loggedIn: now });
    this.#recentLogins = [...this.#recentLogins.filter((at) => at > now - 1000), now];
    this.#logins.perSecondMax = Math.max(this.#logins.perSecondMax, this.#recentLogins.length);
  }

  /** Stores the time at which a connection of an account closed. */
  closed(number: Digits, now: number): void {
    this.#times.set(number, { loggedIn: 0, ...this.#times.get(number), closed: now });
  }

  /** Counts an upload. `host` is the host in the client's request. */
  uploaded(host: string, resumed: boolean): void {
    const { media } = this;
    media.uploads += 1;
    if (resumed) media.resumed += 1;
    if (host in media.uploadsByHost || Object.keys(media.uploadsByHost).length < maxUnknown)
      media.uploadsByHost[host] = (media.uploadsByHost[host] ?? 0) + 1;
  }

  failedLogin(): void {
    this.#logins.failed += 1;
  }

  unknown(name: string): void {
    const known = this.#unknown.has(name) || this.#unknown.size < maxUnknown;
    const key = known ? name.slice(0, 120) : 'others';
    this.#unknown.set(key, (this.#unknown.get(key) ?? 0) + 1);
  }

  /** Counts a connection or a file transfer by its source address. */
  arrived(kind: 'sockets' | 'files', address: string | undefined): void {
    if (address === undefined || (!this.#addresses.has(address) && this.#addresses.size >= maxAddresses)) return;
    const counts = this.#addresses.get(address) ?? { sockets: 0, files: 0 };
    counts[kind] += 1;
    this.#addresses.set(address, counts);
  }

  refusedPatch(why: string): void {
    this.#refusedPatches.set(why, (this.#refusedPatches.get(why) ?? 0) + 1);
  }

  signature(valid: boolean): boolean {
    this.signatures[valid ? 'verified' : 'rejected'] += 1;
    return valid;
  }

  snapshot(): Stats {
    return structuredClone({
      connections: this.connections,
      addresses: Object.fromEntries(this.#addresses),
      handshakes: this.handshakes,
      pairings: this.pairings,
      logins: { ...this.#logins, byNumber: Object.fromEntries(this.#loginsByNumber), times: Object.fromEntries(this.#times) },
      messages: this.messages,
      signatures: this.signatures,
      lookups: this.lookups,
      groups: this.groups,
      channels: this.channels,
      pictures: this.pictures,
      media: this.media,
      settings: { ...this.settings, refused: Object.fromEntries(this.#refusedPatches) },
      unknown: Object.fromEntries(this.#unknown),
    });
  }
}

// The calls since the start, with every step of both sides. They are not stored.

interface Call extends CallView {
  readonly steps: { step: CallStep['step']; by: Digits; at: number }[];
}

const maxCalls = 1000;

export class CallLog {
  readonly #calls = new Map<string, Call>();

  all(): readonly CallView[] {
    return structuredClone([...this.#calls.values()]);
  }

  find(id: string): CallView | undefined {
    return this.#calls.get(id);
  }

  /** Adds a step. The first step creates the call. */
  add({ id, from, to, video }: Omit<CallView, 'steps'>, step: CallStep['step'], by: Digits): void {
    const call = this.#calls.get(id) ?? { id, from, to, video, steps: [] };
    call.steps.push({ step, by, at: Date.now() });
    this.#calls.set(id, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > maxCalls && oldest !== undefined) this.#calls.delete(oldest);
  }
}
