/**
 * A connection: one socket of Baileys from its creation to its end. The connection has its own deadlines, and detects a dead socket by itself.
 */
import { makeWASocket, type BaileysEventMap, type WASocket } from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import type { Close } from '#actors/ports.ts';
import { within } from '#actors/waiting.ts';
import { createSharedState, type SharedState } from '../app-state/shared-state.ts';
import { createBaileysLogger } from '../app-state/baileys-logger.ts';
import { BlockedPeople, ChatTimers, directoryOf, followPrivacy, identityOf, refuseAccounts } from './self.ts';
import { ChannelList, unlisted } from '../events/from-channels.ts';
import { closeOf, ownCloses, silenceOf } from '../wire/outcomes.ts';
import { followAcks } from './sent-acks.ts';
import { confirmReceived } from '../inbound/held-acks.ts';
import { type Directory, isGroup, isLid, mappingKeysOf } from '../wire/jid.ts';
import { originalOf } from '../events/answers.ts';
import type { BaileysEvent } from '../events/from-baileys.ts';
import { LastFrame } from '../wire/frames.ts';
import { GroupCache } from '../events/group-cache.ts';
import { GroupKeys } from '../keys/group-keys.ts';
import { SpentKeys } from '../keys/spent-keys.ts';
import { Identities, takeOverGroupLists } from '../inbound/notices.ts';
import { reportArrivals } from '../inbound/arrivals.ts';
import { divert, DurableInbox, usualLimits } from '../inbound/durable-inbox.ts';
import { withOwnReaders } from '../inbound/own-readers.ts';
import { createEventPipeline, type EventPipeline } from '../events/event-pipeline.ts';
import { ForgedKeyNotes } from '../keys/forged-keys.ts';
import { HistoryFiles } from '../outbound/history-files.ts';
import { KeepAlive } from './keep-alive.ts';
import { keysStored, orCloseRoute, ownPictureOf, type Session, type SessionOptions } from './session-options.ts';
import { socketConfig } from './socket-config.ts';
import { guard, makeGuarded } from './socket-guards.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import type { OwnPicture } from './pictures.ts';
import { RingingCalls } from '../events/from-calls.ts';
import { Standing } from '../outbound/standing.ts';
import { PairingOffer } from './pairing-offer.ts';
import { Resends } from '../outbound/resends.ts';
import { Transmissions } from '../outbound/transmissions.ts';
import { Uploads } from '../outbound/upload/uploads.ts';
import { systemTime } from '#src/base/system-time.ts';

class LiveSession implements Session {
  readonly connection: LiveConnection;
  readonly #end = Promise.withResolvers<void>();
  readonly closed = this.#end.promise;
  loggedIn = false;
  readonly #options: SessionOptions;
  readonly #sock: WASocket;
  readonly #groups: GroupCache;
  readonly #groupKeys: GroupKeys;
  readonly #identities: Identities;
  readonly #timers: ChatTimers;
  readonly #directory: Directory;
  readonly #pipeline: EventPipeline;
  readonly #inbox: DurableInbox;
  readonly #transmissions: Transmissions;
  readonly #resends: Resends;
  readonly #files: HistoryFiles;
  readonly #forgedKeys = new ForgedKeyNotes(() => this.#options.host.forged('keys'));
  readonly #uploads: Uploads;
  readonly #picture: OwnPicture;
  readonly #blocked: BlockedPeople;
  readonly #calls = new RingingCalls(() => this.#options.now());
  readonly offer: PairingOffer;
  readonly #keepAlive: KeepAlive;
  #deadline: NodeJS.Timeout | undefined;
  readonly #lastFrame = new LastFrame(() => this.#options.now());
  #profileName: string;
  /** The reason for the end of the connection. The first reason counts, because later reasons are its consequences. */
  #cause: Close | null = null;
  #paired: Promise<void> = Promise.resolve();
  #finished = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { auth, deadlines } = options;
    this.#groupKeys = new GroupKeys({ ...this.#asking(), auth, isMember: (jid) => this.#groups.has(jid) });
    this.#groups = new GroupCache({ ...options.groups, ...this.#asking(), keys: this.#groupKeys });
    const tell = (event: BaileysEvent): void => this.#pipeline.push(event);
    this.#identities = new Identities({ sock: () => this.#sock, keys: this.#groupKeys, tell, now: options.now });
    this.#directory = directoryOf({ ...options, groups: this.#groups });
    this.#timers = new ChatTimers(options.timers, this.#directory);
    this.#profileName = this.#directory.me.name;
    this.#transmissions = new Transmissions({ timeoutMs: deadlines.send, now: options.now });
    this.#pipeline = this.#createPipeline();
    auth.holdVersions(() => this.#stored());
    // With `now`, a send fails at once while the database is unavailable.
    const loadMappings: LiveConnection['loadMappings'] = (jids) => auth.load('lid-mapping', mappingKeysOf(jids), 'now');
    const group: LiveConnection['group'] = (jid) => this.#groups.get(jid);
    this.#resends = new Resends({ directory: this.#directory, stored: options.quoted, loadMappings, group });
    this.#files = new HistoryFiles(options.route.fetchDispatcher, (error) => this.#stumbled('history', error));
    ({ sock: this.#sock, blocked: this.#blocked } = this.#createSocket());
    this.#uploads = new Uploads(this.#sock, options.uploads);
    this.offer = new PairingOffer(this.#sock, {
      ...options,
      expect: (ms, close) => this.#expect(ms, close),
      fail: (close) => this.#fail(close),
      stumbled: (error) => this.#stumbled('pairing', error),
    });
    this.#inbox = this.#createInbox();
    options.clock.follow(this.#sock.ws);
    this.#picture = ownPictureOf(this.#sock, this.#directory, options, (error) => this.#stumbled('picture', error));
    this.connection = {
      sock: this.#sock,
      directory: this.#directory,
      transmissions: this.#transmissions,
      leaving: (message) => this.#resends.note(message),
      hasForgedKeys: (jid) => this.#forgedKeys.has(this.#directory, jid),
      standing: new Standing(this.#sock, options.timeLocked),
      calls: this.#calls,
      stored: (id) => originalOf(options.quoted, id),
      previews: options.previews,
      uploads: this.#uploads,
      downloads: options.downloads,
      record: (entries) => this.#record(entries),
      apply: (entries) => {
        this.#groups.apply(entries);
        this.#timers.apply(entries);
      },
      loadMappings,
      group,
      groups: this.#groups,
      channels: new ChannelList({ ...options.channels, ...this.#asking() }),
      timer: async (jid) => (isGroup(jid) ? ((await this.#groups.get(jid))?.ephemeral ?? 0) : this.#timers.of(jid)),
      shared: this.#createShared(),
      tokenIssued: (jid) => auth.tokenIssued(isLid(jid) ? jid : this.#directory.lid(jid) || jid, options.now()),
    };
    followAcks({ ...this.connection, stumbled: (error) => this.#stumbled('devices', error) });
    // The timers begin last. If the socket cannot be made, nothing would stop them.
    this.#expect(deadlines.open, () => silenceOf(this.#sock.ws.isOpen, options.url));
    const silent = (): void => this.#fail(ownCloses.silence);
    this.#keepAlive = new KeepAlive({ sock: this.#sock, lastFrame: this.#lastFrame, silenceMs: deadlines.silence, silent });
  }

  readonly lastFrameAt = (): number => this.#lastFrame.at;

  end(close: Close): Promise<void> {
    this.#fail(close);
    return this.closed;
  }

  /** Returns the dependencies of parts that query the platform by themselves. `sock` is a function, because the socket is made after these parts. */
  #asking() {
    return {
      sock: () => this.#sock,
      directory: () => this.#directory,
      record: (entries: readonly Entry[]) => this.#record(entries),
      recorded: () => this.#options.host.recorded(),
      stumbled: (where: string, error: unknown) => this.#stumbled(where, error),
    };
  }

  /** Resolves with true when all present events of the library are stored, and with false if they never will be. Never rejects. */
  async #stored(): Promise<boolean> {
    return (await this.#pipeline.drain()) && this.#options.host.recorded();
  }

  #createShared(): SharedState {
    const { host, auth } = this.#options;
    return createSharedState({
      sock: this.#sock,
      directory: this.#directory,
      loadMappings: (jids) => auth.load('lid-mapping', mappingKeysOf(jids)).catch(() => undefined),
      record: (entries) => this.#pipeline.drain().then(() => this.#record(entries)),
      recorded: () => host.recorded(),
      patches: auth.patches,
      stumbled: (error) => this.#stumbled('app-state', error),
    });
  }

  #createPipeline(): EventPipeline {
    const { host, auth, log, quoted, followsDeletions } = this.#options;
    return createEventPipeline({
      followsDeletions,
      instance: host.id,
      auth,
      directory: this.#directory,
      log,
      quoted,
      record: (entries) => this.#record(entries),
      recorded: () => host.recorded(),
      turn: () => this.#options.schedulers.messages.taken(),
      fetched: () => this.#inbox.whenFetched(),
      unread: () => this.#groups.unread(),
      group: (jid) => this.#groups.get(jid),
      pair: (pairs) => this.#sock.signalRepository.lidMapping.storeLIDPNMappings(pairs),
      surprise: (error) => this.#surprise(error),
    });
  }

  #createSocket(): { readonly sock: WASocket; readonly blocked: BlockedPeople } {
    const { host, log, deadlines, schedulers } = this.#options;
    const config = socketConfig({
      ...this.#options,
      getMessage: this.#resends.getMessage,
      resending: () => this.#resends.preparing,
      logger: createBaileysLogger(log, host.id, {
        over: () => this.#cause !== null,
        unread: (action) => this.#onEvent({ name: 'app-state.action', data: action }),
      }),
      keyMissing: (id) => this.connection.shared.keyMissing(id),
      identityReplaced: (address) => void this.#identities.replaced(address).catch((error: unknown) => this.#stumbled('identity', error)),
      groups: this.#groups,
      files: this.#files,
      forgedKeys: this.#forgedKeys,
    });
    const sock = makeGuarded(() => makeWASocket(config));
    const hooks = {
      event: (event: BaileysEvent) => this.#onEvent(event),
      frame: () => this.#lastFrame.note(),
      handshaken: () => this.#onHandshake(),
      failed: (close: Close) => this.#fail(close),
      stumbled: (where: string, error: unknown) => this.#stumbled(where, error),
    };
    this.#resends.takeOver(sock);
    const isRefused = (number: string): boolean => host.accountOf(number) === 'refused';
    refuseAccounts(sock, isRefused, () => this.#fail(ownCloses.otherAccount));
    const blocked = new BlockedPeople(sock, (event) => this.#pipeline.push(event));
    followPrivacy(sock, (error) => this.#stumbled('privacy', error));
    const permission = { granted: () => host.mayAct(), denied: () => this.#fail(ownCloses.leaseUnsure) };
    guard(sock, hooks, { closeMs: deadlines.close / 2, frames: schedulers.frames, permission });
    return { sock, blocked };
  }

  #createInbox(): DurableInbox {
    const { auth, schedulers, inboundBytes } = this.#options;
    const diverted = divert(this.#sock, (kind, node) => void (this.offer.takes(node) || this.#inbox.take(kind, node)));
    const handlers = withOwnReaders(diverted, this.#sock, {
      tell: (event) => this.#pipeline.push(event),
      refresh: (names) => this.connection.shared.refresh(names),
      read: (messageId) => this.#inbox.reported(messageId),
      identities: this.#identities,
      spentKeys: new SpentKeys(this.#options),
    });
    takeOverGroupLists(
      this.#sock,
      () => this.#groups.refresh(),
      (error) => this.#stumbled('groups', error),
    );
    return new DurableInbox({
      inbound: auth.inbound,
      handlers: {
        ...handlers,
        receipt: (node) =>
          node.attrs['type'] === 'retry' ? this.#resends.answer(node, this.#sock, handlers.receipt) : handlers.receipt(node),
      },
      turn: () => schedulers.messages.taken(),
      confirm: (node) => confirmReceived(this.#sock, auth.state.creds.me, node),
      acknowledge: (node) => this.#sock.sendMessageAck(node),
      connected: () => this.#sock.ws.isOpen,
      stored: () => this.#stored(),
      keysStored: () => keysStored(this.#groupKeys, auth),
      failed: (close) => this.#fail(close),
      forged: (what) => this.#options.host.forged(what),
      crashed: (error) => this.#surprise(error),
      handlerFailed: (where, error) => this.#stumbled(where, error),
      limits: { ...usualLimits, bytes: inboundBytes },
    });
  }

  /** Replaces the running deadline. */
  #expect(ms: number, close: () => Close): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#fail(close()), ms);
  }

  #onHandshake(): void {
    this.#keepAlive.begin();
    this.#expect(this.#options.deadlines.login, () => ownCloses.loginTimeout);
    this.#options.emit({ type: 'platform.handshaken' });
  }

  #onEvent(event: BaileysEvent): void {
    try {
      if (event.name === 'connection.update') this.#onConnection(event.data);
      else if (event.name === 'creds.update') this.#onCredentials(event.data);
      else {
        reportArrivals(this.#inbox, event, { directory: this.#directory, files: this.#files });
        this.#picture.observe(event);
        this.#calls.observe(event);
        this.#pipeline.push(event);
        this.#blocked.observe(event);
      }
    } catch (error) {
      this.#surprise(error);
    }
  }

  #onCredentials(update: BaileysEventMap['creds.update']): void {
    this.#options.auth.saveCredentials();
    this.connection.shared.credentialsChanged(update);
    const { name } = this.#directory.me;
    if (!this.loggedIn || name === this.#profileName) return;
    this.#profileName = name;
    this.#options.emit({ type: 'platform.identity', patch: { profileName: name } });
  }

  #onConnection(update: BaileysEventMap['connection.update']): void {
    // The queries of a login end with their connection. The library may then report a login, which must be ignored.
    const isOver = this.#cause !== null || !this.#sock.ws.isOpen;
    if (update.qr !== undefined && !isOver) {
      clearTimeout(this.#deadline);
      this.offer.begin();
    }
    if (update.isNewLogin) this.#onPaired();
    if (update.connection === 'open' && !isOver) this.#onOpen();
    if (update.connection === 'close') {
      this.#cause ??= this.#options.route.judged(closeOf(update.lastDisconnect?.error, this.#options.url));
      void this.#finalize(this.#cause);
    }
  }

  #onPaired(): void {
    const { auth, emit, deadlines, host } = this.#options;
    this.offer.end();
    const identity = identityOf(auth, this.#directory);
    const account = host.accountOf(identity.owner);
    this.#record([{ kind: 'groupsListed', groupIds: [], at: 0 }, unlisted]);
    // The platform usually requests a new connection next. Without this request, the connection ends after this time.
    this.#expect(deadlines.login, () => ownCloses.restartTimeout);
    // A rejection means that the keys can never be stored. In this case `onLost` of the link ends the session.
    this.#paired = auth.storeCredentials().then(
      // An instance that changes its account keeps the identity of the former account until the data of that account is removed. The next opening
      // removes that data.
      () => (account === 'same' ? emit({ type: 'platform.paired', identity }) : undefined),
      () => undefined,
    );
  }

  #onOpen(): void {
    const { auth, emit } = this.#options;
    clearTimeout(this.#deadline);
    auth.releaseFreshKeys();
    this.loggedIn = true;
    this.#profileName = this.#directory.me.name;
    emit({ type: 'platform.opened', identity: identityOf(auth, this.#directory) });
    this.#inbox.open();
    this.#picture.loggedIn();
    for (const part of [this.#groups, this.connection.channels, this.connection.shared]) part.opened();
  }

  #record(entries: readonly Entry[]): void {
    this.#options.host.record(entries);
    this.connection.apply(entries);
  }

  #surprise(error: unknown): void {
    this.#fail(ownCloses.surprise);
    this.#options.host.surprise(error);
  }

  #stumbled(where: string, error: unknown): void {
    // Errors after the end of the connection are not logged, because all running operations then fail.
    if (this.#cause !== null || !this.#sock.ws.isOpen) return;
    this.#options.log.warn({ instance: this.#options.host.id, where, detail: closeOf(error).message }, 'platform.stumbled');
  }

  #fail(close: Close): void {
    if (this.#cause !== null) return;
    this.#cause = this.#options.route.judged(close);
    // The library must not get further messages. They could not be confirmed, and would count as suspicious after a crash.
    void this.#inbox.close();
    const error = Object.assign(new Error(close.message), { output: { statusCode: close.code } });
    this.#sock.end(error).catch(() => void this.#finalize(this.#cause ?? close));
    // The library reports the close only when the socket is closed, which may take very long. This timer limits the wait.
    const { deadlines } = this.#options;
    const cause = this.#cause;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => void this.#finalize(cause), deadlines.close * 0.6);
  }

  async #finalize(close: Close): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    this.loggedIn = false;
    clearTimeout(this.#deadline);
    this.#keepAlive.end();
    this.offer.end();
    this.#transmissions.close();
    this.#picture.close();
    this.#uploads.close();
    this.#options.route.close();
    const { auth, deadlines, emit } = this.#options;
    auth.giveUpReads();
    const recorded = this.#inbox.close().then(() => this.#pipeline.drain());
    await within(systemTime, deadlines.close / 2, Promise.all([recorded.then(() => auth.settled()), this.#paired]));
    this.#pipeline.close();
    emit({ type: 'platform.closed', close });
    this.#end.resolve();
  }
}

/** Opens a connection. Throws if the socket cannot be made, for example because of an invalid address. */
export const openSession = (options: SessionOptions): Session => orCloseRoute(options.route, () => new LiveSession(options));
