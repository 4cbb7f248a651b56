/** A platform whose facts a test emits by hand. It checks the obligations of `PlatformLink` and records every violation. */
import { done, refuse, type Message, type Result, type Send, type SendContent, type TimeLock } from '#actors/model.ts';
import type {
  AnswerOf,
  Close,
  Identity,
  LinkHost,
  OpenOptions,
  Operation,
  OperationControl,
  OperationName,
  Outcome,
  PasskeyAssertion,
  PasskeyStep,
  Platform,
  PlatformFact,
  PlatformLink,
  PlatformTime,
} from '#actors/ports.ts';
import { notSent } from '#src/platform/wire/outcomes.ts';
import { message as sampleMessage } from '#test/contract/samples.ts';
import type { FakeTime } from './time.ts';
import { wordsOf } from './words.ts';

export const identity: Identity = {
  jid: '5511988887777:3@s.whatsapp.net',
  lid: '99@lid',
  owner: '5511988887777',
  profileName: 'Me',
  isBusiness: false,
  platform: 'android',
};

export const closeOf = (code: number | null, data?: Readonly<Record<string, string>>): Close => ({
  code,
  message: `closed with ${code}`,
  ...(data ? { data } : {}),
});

type Emit = (fact: PlatformFact) => void;
type Transmission = Outcome<{ readonly at: number }>;
/** The union of all operations, discriminated by the name. */
export type AnyOperation = { readonly [N in OperationName]: Operation<N> }[OperationName];

const chatIdOf = (number: string): string => (number.endsWith('@g.us') ? number : `${number.replace(/@.*/, '')}@s.whatsapp.net`);

/** The state that all links of a platform share. */
export class FakePlatform implements Platform {
  readonly links = new Map<string, FakeLink>();
  /** Broken obligations as sentences. A test asserts that there are none. */
  readonly violations: string[] = [];
  /** Returns true if an instance has stored credentials when its link is made. */
  credentials: (id: string) => boolean = () => false;
  /** Called when a link opens. A test sets this function if the platform should answer without further calls. */
  onOpen: (link: FakeLink) => void = () => undefined;
  readonly #time: FakeTime;

  constructor(time: FakeTime) {
    this.#time = time;
  }

  picture = () => null;

  /** The last time of day that the platform reported. */
  heard: PlatformTime | null = null;
  heardTime = () => this.heard;

  clientVersion = () => ({ version: '2.3000.1', source: 'builtIn', checkedAt: 0, error: '' }) as const;

  link(host: LinkHost): FakeLink {
    if (this.links.has(host.id)) this.violations.push(`a second link was made for ${host.id}`);
    const link = new FakeLink(host, this, this.#time);
    this.links.set(host.id, link);
    return link;
  }

  of(id: string): FakeLink {
    const link = this.links.get(id);
    if (!link) throw new Error(`no link of ${id}`);
    return link;
  }

  /** Returns the times at which links opened, in order. In milliseconds. */
  get opens(): readonly number[] {
    return [...this.links.values()].flatMap((link) => link.opens.map((open) => open.at)).sort((a, b) => a - b);
  }
}

export class FakeLink implements PlatformLink {
  readonly host: LinkHost;
  /** The state of the link. `open`: a socket exists. `live`: the account is logged in. */
  state: 'closed' | 'open' | 'live' | 'closing' = 'closed';
  readonly opens: { readonly at: number; readonly options: OpenOptions; readonly emit: Emit }[] = [];
  /** Counts the calls of `forgetKeys`. */
  forgotten = 0;
  readonly discarded: { readonly how: string; readonly reason: string }[] = [];
  readonly sent: Message[] = [];
  readonly calls: string[] = [];
  /** Numbers for which the newest connection was asked for a pairing code, including the number that was given at its opening. */
  readonly codes: string[] = [];
  /** Steps of the owner about a passkey. */
  readonly passkeySteps: PasskeyStep[] = [];
  logouts = 0;
  closes = 0;
  hasCredentials: boolean;
  /** The platform's answer to a message. */
  answer: (message: Message) => Transmission | Promise<Transmission> = () => done({ at: this.#time.now() });
  /** The adapter's objection to a number; null if there is none. */
  objection: (number: string) => string | null = () => null;
  /** Returns the forms of a number that are looked up. The list is empty unless a test sets this function. */
  forms: (chatId: string) => readonly string[] = () => [];
  /** The outcome of operations that have no row of their own in `#handle`. */
  handle: (operation: AnyOperation) => Outcome<unknown> | Promise<Outcome<unknown>> = () => refuse('notSupported', 'not known to the fake');
  /** True if the connection has ended and `platform.closed` is not emitted yet. */
  ended = false;
  /** The promise that the close of a link waits for. A test sets it to decide when the close ends. */
  closeGate: Promise<void> | null = null;
  /** Names of the methods that throw when they are called, as a faulty adapter would. */
  readonly broken = new Set<string>();
  readonly #platform: FakePlatform;
  readonly #time: FakeTime;
  #closing: Promise<void> | null = null;
  #composed = 0;
  #lastFrameAt = 0;

  constructor(host: LinkHost, platform: FakePlatform, time: FakeTime) {
    this.host = host;
    this.hasCredentials = platform.credentials(host.id);
    this.#platform = platform;
    this.#time = time;
  }

  open(options: OpenOptions, emit: Emit): void {
    if (this.state !== 'closed') this.#violation('two sockets of one account');
    this.#breakIf('open');
    this.state = 'open';
    this.codes.splice(0, Infinity, ...(options.phone === undefined || this.hasCredentials ? [] : [options.phone]));
    this.opens.push({ at: this.#time.now(), options, emit });
    this.#platform.onOpen(this);
  }

  pair(phone: string): void {
    if (this.state === 'open' && !this.hasCredentials) this.codes.push(phone);
  }

  passkey(step: PasskeyStep): void {
    if (this.state === 'open') this.passkeySteps.push(step);
  }

  passkeyProblem(assertion: PasskeyAssertion): string | null {
    return this.objection(assertion.rawId);
  }

  close(): Promise<void> {
    this.closes += 1;
    if (this.broken.has('close')) {
      this.state = 'closed';
      return Promise.reject(new Error('close is broken'));
    }
    if (this.#closing) return this.#closing;
    if (this.state === 'closed') return Promise.resolve();
    this.state = 'closing';
    this.#closing = (this.closeGate ?? Promise.resolve()).then(() => {
      this.state = 'closed';
      this.#closing = null;
    });
    return this.#closing;
  }

  async logout(): Promise<boolean> {
    this.logouts += 1;
    const acknowledged = this.state === 'live' && !this.ended;
    await this.close();
    return acknowledged;
  }

  paired(): Promise<boolean> {
    return Promise.resolve(this.hasCredentials);
  }

  discard(how: 'delete' | 'setAside', reason: string): Promise<void> {
    if (this.state !== 'closed') this.#violation(`discard while ${this.state}`);
    this.#breakIf('discard');
    this.hasCredentials = false;
    this.discarded.push({ how, reason });
    return Promise.resolve();
  }

  forgetKeys(): Promise<void> {
    if (this.state !== 'closed') this.#violation(`forgetKeys while ${this.state}`);
    this.forgotten += 1;
    return Promise.resolve();
  }

  async perform<N extends OperationName>(operation: Operation<N>, { signal }: OperationControl): Promise<Outcome<AnswerOf<N>>> {
    const { name, input } = operation as Operation;
    this.#breakIf(name);
    if (this.ended || signal.aborted || this.state !== 'live') return notSent;
    return (await this.#handle({ name, input } as AnyOperation)) as Outcome<AnswerOf<N>>;
  }

  chatOf(number: string): ReturnType<PlatformLink['chatOf']> {
    const objection = this.objection(number);
    return objection === null
      ? done({ chatId: chatIdOf(number), certain: true, forms: this.forms(chatIdOf(number)) })
      : refuse('invalid', objection);
  }

  draft({ number, content, replyTo }: Send): Result<Message> {
    const message = this.#made(number, content);
    return done(replyTo === '' && content.kind !== 'media' ? message : { ...message, raw: null });
  }

  /** The last time-lock that the platform reported. */
  lock: TimeLock | null = null;

  timeLock(): TimeLock | null {
    return this.lock;
  }

  lastFrameAt(): number {
    return this.#lastFrameAt;
  }

  /** Emits facts of the platform to the newest connection. */
  say(...facts: readonly PlatformFact[]): void {
    const emit = this.opens.at(-1)?.emit;
    if (!emit || this.state === 'closed' || this.state === 'closing')
      throw new Error(`nothing can be said on a link that is ${this.state}`);
    this.#lastFrameAt = this.#time.now();
    for (const fact of facts) {
      if (fact.type === 'platform.qr' && this.codes.length > 0) this.#violation('a QR although a code was asked for');
      if (fact.type === 'platform.code' && this.codes.length === 0) this.#violation('a code that nobody asked for');
      if (fact.type === 'platform.opened') this.state = 'live';
      if (fact.type === 'platform.paired' || fact.type === 'platform.opened') this.hasCredentials = true;
      if (fact.type === 'platform.closed') this.state = 'closed';
      emit(fact);
    }
  }

  /** Emits the facts of a successful login with stored credentials. */
  login(): void {
    // The platform's clock is right, even while the test moves the wall clock.
    const now = this.#time.monotonic();
    this.#platform.heard = { at: now, heardAt: now };
    this.say({ type: 'platform.handshaken' }, { type: 'platform.opened', identity });
  }

  end(code: number | null, data?: Readonly<Record<string, string>>): void {
    this.say({ type: 'platform.closed', close: closeOf(code, data) });
  }

  #handle(operation: AnyOperation): Outcome<unknown> | Promise<Outcome<unknown>> {
    switch (operation.name) {
      case 'message.compose': {
        const { send, draft } = operation.input;
        return done(draft ? { ...draft, raw: new Uint8Array([2]) } : this.#made(send.number, send.content));
      }
      case 'message.transmit':
        this.sent.push(operation.input.message);
        return this.answer(operation.input.message);
      case 'chat.typing':
        return this.#noted(`${operation.input.state} ${operation.input.chatId}`);
      case 'chat.markRead':
      case 'chat.markMessagesRead':
        return this.#noted(`read ${operation.input.messages.map(({ messageId }) => messageId).join(' ')}`);
      case 'account.presence':
        return this.#noted(`presence ${operation.input.presence}`);
      default:
        return this.handle(operation);
    }
  }

  #noted(what: string): Outcome<null> {
    this.calls.push(what);
    return done(null);
  }

  #made(number: string, content: SendContent): Message {
    this.#composed += 1;
    const n = String(this.#composed).padStart(4, '0');
    return {
      ...sampleMessage,
      id: `r000${n}`,
      messageId: `${this.host.id}-${n}`,
      chatId: chatIdOf(number),
      sender: identity.jid,
      fromMe: true,
      wasSentByApi: true,
      status: 'Queued',
      text: wordsOf(content),
      content: wordsOf(content),
      mediaType: content.kind === 'media' ? content.as : sampleMessage.mediaType,
      timestamp: this.#time.now(),
      trackId: '',
      trackSource: '',
      raw: new Uint8Array([1]),
    };
  }

  #breakIf(method: string): void {
    if (this.broken.has(method)) throw new Error(`${method} is broken`);
  }

  #violation(what: string): void {
    this.#platform.violations.push(`${this.host.id}: ${what}`);
  }
}
