/** The link of an instance to the platform. It outlives its connections, and has at most one connection at a time. */
import type { Dispatcher } from 'undici';
import type { WAVersion } from '@whiskeysockets/baileys';
import { done, refuse, type Message, type Result, type Send, type TimeLock } from '#actors/model.ts';
import type {
  AnswerOf,
  ChatTimer,
  Close,
  Forgery,
  GroupStore,
  LinkHost,
  Log,
  OpenOptions,
  Operation,
  OperationControl,
  OperationName,
  Outcome,
  PasskeyAssertion,
  PasskeyOptions,
  PasskeyStep,
  PlatformFact,
  PlatformLink,
} from '#actors/ports.ts';
import { EpochLost, StorageFailure, StorageUnavailable } from '#actors/ports.ts';
import { type AuthState, isAbandoned, openAuthState, storedCredentials } from './keys/auth-state.ts';
import { notSent, ownCloses } from './wire/outcomes.ts';
import { identityOf, removeDevice } from './link/self.ts';
import { bare, chatOf, type Directory, formsOf, isLid, isPerson, resolveTarget } from './wire/jid.ts';
import { performOn } from './operations/perform.ts';
import { type ChannelStore, storedChannels } from './events/from-channels.ts';
import type { Deadlines, Session } from './link/session-options.ts';
import { problemOf } from './link/passkey.ts';
import { openSession } from './link/session.ts';
import type { PlatformClock } from './link/platform-clock.ts';
import type { Previews } from './outbound/live-connection.ts';
import { platformAddress } from './proxy/check.ts';
import { directRoute, proxyRoute, type LiveRoute, type ProxyParts } from './proxy/route.ts';
import type { UploadMemory, UploadParts } from './outbound/upload/uploads.ts';
import type { Downloads } from './outbound/media-stream.ts';
import { draft } from './outbound/compose.ts';
import type { MediaTrust, Trust } from './wire/trust.ts';
import type { PicturePace, SmallPictures } from './link/pictures.ts';
import type { SharedSchedulers } from './wire/frames.ts';
import type { ClientVersions } from './link/client-versions.ts';
import { CorruptCredentials, type Vault } from './wire/vault-port.ts';
import { within } from '#actors/waiting.ts';
import { LruMap } from '#src/base/lru-map.ts';
import { systemTime } from '#src/base/system-time.ts';

/** The parts of uploads that all links share. `remembered`: the number of recent uploads that one link keeps for reuse. */
export interface SharedUploads extends Pick<UploadParts, 'files' | 'sealing' | 'limits' | 'dispatcher'> {
  readonly remembered: number;
}

/** The dependencies that all links share. */
export interface LinkParts {
  readonly url: string | null;
  readonly versions: Pick<ClientVersions, 'next' | 'refused' | 'accepted' | 'doubted'>;
  readonly vault: Vault;
  readonly trust: Trust;
  readonly schedulers: SharedSchedulers;
  readonly pictures: PicturePace;
  readonly small: SmallPictures;
  readonly clock: PlatformClock;
  readonly deadlines: Deadlines;
  readonly inboundBytes: number;
  readonly followsDeletions: boolean;
  readonly log: Log;
  preKeys(count: number): Promise<Uint8Array>;
  quoted(instance: string, messageId: string): Promise<Message | null>;
  /** Reads the disappearing timers of chats with one person. */
  timers(instance: string): Promise<readonly ChatTimer[]>;
  readonly groups: Pick<GroupStore, 'known' | 'get'> & { readonly maxAgeMs: number };
  readonly channels: ChannelStore;
  readonly previews: Previews;
  readonly uploads: SharedUploads;
  readonly downloads: Downloads;
  /** The dispatcher for media hosts that the platform did not offer. The address guard checks their addresses. */
  readonly guarded: Dispatcher;
  readonly proxies: ProxyParts;
  now(): number;
  newId(): string;
}

const closing: Close = { code: null, message: 'closed by the gateway' };

type Account = Parameters<PlatformLink['draft']>[1];

const accountOf = ({ jid, lid, name }: Account) => ({ pn: bare(jid), lid: bare(lid), name });

/** The directory of a link without a connection. It knows no addresses. */
const offline: Directory = {
  me: { pn: '', lid: '', name: '' },
  pn: () => '',
  lid: () => '',
  groupName: () => '',
  community: () => null,
  newId: () => '',
  now: () => 0,
};

export class BaileysLink implements PlatformLink {
  readonly #parts: LinkParts;
  readonly #host: LinkHost;
  /** The number of the present generation. Each `open` and `close` increments it. Reports of an older generation are dropped. */
  #generation = 0;
  #session: Session | null = null;
  /** The keys of the session. They stay in memory between the two connections of a pairing, and until all changes are stored. */
  #auth: AuthState | null = null;
  /** The options of the present connection. */
  #options: OpenOptions = {};
  /** Resolves when all earlier openings and closings have ended. */
  #work: Promise<void> = Promise.resolve();
  #lastFrameAt = 0;
  #timeLock: TimeLock | null = null;
  /** The client version of the last connection. */
  #version: WAVersion | null = null;
  /** Uploads that may be reused. They outlive connections, because the platform keeps uploaded files. */
  readonly #uploaded: UploadMemory;
  /** True if the last connection did not crash. False before the first connection of this process, because a former process may have crashed. */
  #orderly = false;
  /** True if the present connection has crashed. */
  #crashed = false;

  constructor(parts: LinkParts, host: LinkHost) {
    this.#parts = parts;
    this.#host = host;
    this.#uploaded = new LruMap(parts.uploads.remembered);
  }

  open(options: OpenOptions, emit: (fact: PlatformFact) => void): void {
    this.#generation += 1;
    this.#options = options;
    const generation = this.#generation;
    const report = (fact: PlatformFact): void => {
      if (generation !== this.#generation) return;
      if (fact.type === 'platform.closed') this.#retire(fact.close);
      if (fact.type === 'platform.opened' && this.#version !== null) this.#parts.versions.accepted(this.#version);
      emit(fact);
    };
    this.#work = this.#work
      .then(() => this.#begin(generation, report))
      .catch((error: unknown) => report({ type: 'platform.closed', close: this.#refusal(error) }));
  }

  pair(phone: string): void {
    this.#options = { ...this.#options, phone };
    this.#session?.offer.change(phone);
  }

  passkey(step: PasskeyStep): void {
    this.#session?.offer.passkey(step);
  }

  passkeyProblem(assertion: PasskeyAssertion, options: PasskeyOptions): string | null {
    return problemOf(assertion, options);
  }

  async close(): Promise<void> {
    this.#generation += 1;
    const session = this.#session;
    this.#lastFrameAt = this.lastFrameAt();
    this.#session = null;
    // An opening that still runs makes no socket, because `#begin` compares generations.
    this.#work = this.#work.then(async () => {
      if (session !== null) {
        await session.end(closing);
        this.#ended();
      }
      if (this.#auth?.clean) this.#forget();
    });
    await within(systemTime, this.#parts.deadlines.close, this.#work);
  }

  async logout(): Promise<boolean> {
    const session = this.#session;
    this.#generation += 1;
    const isConfirmed =
      session !== null &&
      session.loggedIn &&
      (await within(systemTime, this.#parts.deadlines.close / 2, removeDevice(session.connection.sock))) === 'done';
    await this.close();
    return isConfirmed;
  }

  async paired(): Promise<boolean> {
    const creds = this.#auth?.state.creds ?? (await storedCredentials(this.#parts.vault, this.#host.id));
    return creds?.account !== undefined && creds.account !== null;
  }

  async forgetKeys(): Promise<void> {
    // Running writes must end first. They could store keys again after the deletion.
    while (this.#auth !== null && !this.#auth.clean) {
      const ending = await within(systemTime, this.#parts.deadlines.close, this.#auth.settled());
      if (ending !== 'done' && this.#auth !== null) throw new StorageUnavailable('keys of the session are still being stored');
    }
    this.#forget();
  }

  async discard(how: 'delete' | 'setAside', reason: string): Promise<void> {
    await this.forgetKeys();
    this.#parts.small.forget(this.#host.id);
    // The next account is not restricted like the former one.
    this.#timeLock = null;
    await this.#parts.vault.discard(this.#host.id, this.#host.epoch, how, reason);
  }

  perform<N extends OperationName>(operation: Operation<N>, control: OperationControl): Promise<Outcome<AnswerOf<N>>> {
    const session = this.#session;
    return session?.loggedIn ? performOn(session.connection, operation, control) : Promise.resolve(notSent);
  }

  chatOf(number: string): ReturnType<PlatformLink['chatOf']> {
    const target = resolveTarget(number);
    if (!target.ok) return refuse('invalid', target.message);
    const directory = this.#session?.connection.directory ?? offline;
    const { id } = chatOf(directory, target.jid);
    const lookedUp = isPerson(target.jid) && target.jid !== directory.me.pn;
    return done({ chatId: id, certain: !isLid(id), forms: lookedUp ? formsOf(id) : [] });
  }

  draft(send: Send, account: Account): Result<Message> {
    const { now, newId } = this.#parts;
    return draft(send, this.#session?.connection.directory ?? { ...offline, me: accountOf(account), now, newId });
  }

  lastFrameAt(): number {
    return this.#session?.lastFrameAt() ?? this.#lastFrameAt;
  }

  timeLock(): TimeLock | null {
    return this.#timeLock;
  }

  async #begin(generation: number, report: (fact: PlatformFact) => void): Promise<void> {
    const { trust, deadlines, log, now, quoted, groups, channels, uploads, downloads } = this.#parts;
    const { id: instance } = this.#host;
    const current = (): boolean => generation === this.#generation;
    if (!current()) return;
    const media = await trust.establish().catch((error: unknown) => {
      log.warn({ instance, detail: error instanceof Error ? error.message : typeof error }, 'platform.untrusted');
      return undefined;
    });
    if (media === undefined) return report({ type: 'platform.closed', close: ownCloses.trust });
    // No connection opens while entries wait for the storage. Each connection would add more, and they could be recorded out of order.
    if ((await within(systemTime, deadlines.close, this.#host.recorded())) === 'late')
      return report({ type: 'platform.closed', close: ownCloses.storage });
    const { auth, timers, version } = await this.#stored();
    if (!current()) return;
    if (!(await this.#isAccepted(auth, current))) return report({ type: 'platform.closed', close: ownCloses.otherAccount });
    if (!current()) return;
    this.#version = version;
    const route = this.#route(media);
    if ('code' in route) return report({ type: 'platform.closed', close: route });
    this.#session = openSession({
      ...this.#parts,
      host: { ...this.#host, surprise: (error) => this.#surprise(error), forged: (what) => this.#forged(what) },
      version,
      auth,
      route,
      open: this.#options,
      quoted: (messageId) => quoted(instance, messageId),
      timers,
      groups: { known: () => groups.known(instance), maxAgeMs: groups.maxAgeMs, stored: (groupId) => groups.get(instance, groupId) },
      channels: storedChannels(channels, instance),
      uploads: { ...uploads, memory: this.#uploaded, now, dispatcher: route.dispatcher },
      downloads: { ...downloads, instance, dispatcher: route.dispatcher, guarded: route.guarded },
      timeLocked: (lock) => void (this.#timeLock = lock),
      emit: report,
    });
  }

  /** Reads the keys, the disappearing timers and the client version for a connection. */
  async #stored(): Promise<{ auth: AuthState; timers: readonly ChatTimer[]; version: WAVersion }> {
    const { vault, preKeys, log, now, timers, versions } = this.#parts;
    const { id: instance, epoch } = this.#host;
    // The keys of an abandoned pairing code are dropped. If the storage is slow, they may still be in memory.
    if (this.#auth && isAbandoned(this.#auth.state.creds)) this.#forget();
    const onLost = (error: unknown): void => this.#onLost(error);
    const parts = { vault, instance, epoch, preKeys, log, suspicious: !this.#orderly, now, onLost };
    const [auth, timed, version] = await Promise.all([this.#auth ?? openAuthState(parts), timers(instance), versions.next()]);
    this.#auth = auth;
    return { auth, timers: timed, version };
  }

  /**
   * Returns false if the instance refuses the account of the credentials. If another account than before is allowed, the data of the former account
   * is removed first.
   */
  async #isAccepted(auth: AuthState, current: () => boolean): Promise<boolean> {
    const identity = identityOf(auth, offline);
    const answer = identity.owner === '' ? 'same' : this.#host.accountOf(identity.owner);
    if (answer === 'change') await this.#host.beginAnew(identity, current);
    return answer !== 'refused';
  }

  /** Returns the route of a new connection. If no route is possible, returns a close with the reason. */
  #route(media: MediaTrust): LiveRoute | Close {
    const { url, uploads, guarded, proxies } = this.#parts;
    const route = this.#host.route();
    if (route.via === 'nowhere') return ownCloses.proxyMissing;
    if (route.via === 'unreadable') return ownCloses.unreadable;
    if (route.via === 'direct') return directRoute(media, uploads.dispatcher, guarded);
    const guard = route.managed ? null : proxies.guard;
    return proxyRoute({ timeoutMs: proxies.timeoutMs, guard, url: route.url, secure: platformAddress(url).protocol === 'https:', media });
  }

  /** Ends the connection after the keys could not be stored. No later connection could continue its ratchets. */
  #onLost(error: unknown): void {
    this.#auth = null;
    if (!(error instanceof EpochLost)) this.#surprise(error);
    void this.#session?.end(error instanceof EpochLost ? ownCloses.epochLost : ownCloses.surprise);
  }

  #retire(close: Close): void {
    this.#lastFrameAt = this.lastFrameAt();
    this.#session = null;
    this.#ended();
    // The simulated platform may have new keys after a restart, so its certificates must be fetched again.
    if (close.data?.['reason'] === 'certificateRefused') this.#parts.trust.forget();
    if (this.#version !== null && close.code === 405 && close.data?.['stage'] !== 'upgrade') this.#parts.versions.refused(this.#version);
    if (close.data?.['reason'] === 'linkingStalled') this.#parts.versions.doubted();
    if (close.code !== 515 && this.#auth?.clean) this.#forget();
  }

  #ended(): void {
    this.#orderly = !this.#crashed;
    this.#crashed = false;
    if (!this.#orderly) this.#auth?.inbound.suspect();
  }

  #surprise(error: unknown): void {
    this.#crashed = true;
    this.#host.surprise(error);
  }

  #forged(what: Forgery): void {
    this.#host.forged(what);
    this.#parts.log.debug({ instance: this.#host.id, what }, 'platform.forged');
  }

  #forget(): void {
    this.#auth?.retire();
    this.#auth = null;
  }

  #refusal(error: unknown): Close {
    if (error instanceof CorruptCredentials) return ownCloses.corruptCredentials;
    if (error instanceof StorageFailure) return ownCloses.storage;
    if (error instanceof EpochLost) return ownCloses.epochLost;
    this.#surprise(error);
    return ownCloses.surprise;
  }
}
