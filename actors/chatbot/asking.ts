/** Asks a model service within limits, and makes the input of the request from a chat. A slow or failing service does not affect other conversations. */
import { Circuit } from '../delivery/receiver-health.ts';
import { type AiMetadata, type ChatbotAgent, type Claim, cutText, inputTextOf, type InstanceId, type Message } from '../model.ts';
import { backOff, Slots } from '../policy/pacing.ts';
import type { ChatbotPolicy, DeliveryPolicy } from '../policy/policy.ts';
import type { Chance, ChatbotStore, Meter, ModelAnswer, ModelMessage, ModelQuestion, Ports, Time } from '../ports.ts';

// Asks a model service, with a concurrency limit, retries, a deadline and a circuit breaker.

interface AskingInput {
  readonly ports: Pick<Ports, 'chatModels' | 'time' | 'chance' | 'meter'>;
  readonly policy: ChatbotPolicy;
  /** The policy of webhooks. The circuits of the chatbot use only its `retryAfterMax`. All other bounds are in `ChatbotPolicy.circuit`. */
  readonly delivery: DeliveryPolicy;
}

const failed = (error: string): ModelAnswer => ({ ok: false, error, cause: 'busy' });
const stopped = failed('the question was cancelled');

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. */
const pause = (time: Pick<Time, 'setTimeout' | 'clearTimeout'>, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      time.clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = time.setTimeout(end, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });

export class Asking {
  readonly #models: Ports['chatModels'];
  readonly #time: Time;
  readonly #chance: Chance;
  readonly #meter: Pick<Meter, 'modelAsked'>;
  readonly #policy: ChatbotPolicy;
  readonly #delivery: DeliveryPolicy;
  readonly #slots: Slots;
  /** Circuits of failing services, by instance and agent. */
  readonly #circuits = new Map<string, Circuit>();
  #calls = 0;

  constructor({ ports, policy, delivery }: AskingInput) {
    this.#models = ports.chatModels;
    this.#time = ports.time;
    this.#chance = ports.chance;
    this.#meter = ports.meter;
    this.#policy = policy;
    // An answer after `policy.fresh` would come too late for the conversation, so a longer `Retry-After` is shortened.
    this.#delivery = { ...delivery, circuit: policy.circuit, retryAfterMax: Math.min(delivery.retryAfterMax, policy.fresh) };
    this.#slots = new Slots({ total: policy.atOnce.total, perHost: policy.atOnce.perInstance });
  }

  /** Closes the circuits of an instance whose agents were changed. Earlier failures say nothing about the new settings. */
  forget(instance: InstanceId): void {
    for (const name of this.#circuits.keys()) if (name.startsWith(`${instance} `)) this.#circuits.delete(name);
  }

  /** Asks the service, with retries. Never rejects. */
  async ask(instance: InstanceId, question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer> {
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#once(instance, question, signal);
      if (answer.ok || answer.cause !== 'busy' || attempt >= this.#policy.retries || signal.aborted) return answer;
      const asked = Math.min((answer.retryAfter ?? 0) * 1000, this.#delivery.retryAfterMax);
      await pause(this.#time, Math.max(asked, backOff(this.#policy.retry, attempt, this.#chance.random())), signal);
      if (signal.aborted) return stopped;
    }
  }

  async #once(instance: InstanceId, question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer> {
    const name = `${instance} ${question.agent.id}`;
    const circuit = this.#circuits.get(name) ?? new Circuit(this.#delivery);
    const call = (this.#calls += 1);
    if (circuit.until > this.#time.monotonic() || !circuit.admit(call)) return failed('the service failed, and is asked again later');
    this.#circuits.set(name, circuit);
    try {
      await this.#slots.take(instance);
      try {
        const answer = signal.aborted ? stopped : await this.#answer(question, signal);
        // A cancelled request and a refused question say nothing about the health of the service.
        if (answer.ok || (answer.cause !== 'question' && !signal.aborted))
          circuit.judge(call, this.#attemptOf(answer), this.#time.monotonic());
        return answer;
      } finally {
        this.#slots.free(instance);
      }
    } finally {
      circuit.forgo(call);
      if (circuit.failures === 0 && this.#circuits.get(name) === circuit) this.#circuits.delete(name);
    }
  }

  #attemptOf(answer: ModelAnswer) {
    if (answer.ok) return { ok: true, status: 200 } as const;
    const { error, retryAfter } = answer;
    return { ok: false, error, ...(retryAfter === undefined ? {} : { retryAfter }) } as const;
  }

  async #answer(question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer> {
    const limit = new AbortController();
    const begun = this.#time.now();
    const timer = this.#time.setTimeout(() => limit.abort(), this.#policy.timeout);
    const answer = await this.#models.ask(question, AbortSignal.any([signal, limit.signal]));
    this.#time.clearTimeout(timer);
    const outcome = answer.ok ? 'answered' : signal.aborted ? 'givenUp' : 'failed';
    this.#meter.modelAsked(outcome, this.#time.now() - begun, answer.ok ? answer.tokens : 0);
    return !answer.ok && limit.signal.aborted && !signal.aborted ? failed('no answer in time') : answer;
  }
}

// Counts the tokens that instances use per day (UTC), and limits them.

interface Spent {
  readonly day: string;
  tokens: number;
}

export class Budget {
  readonly #store: Pick<ChatbotStore, 'tokens' | 'addTokens'>;
  readonly #time: Pick<Time, 'now'>;
  /** The limit of tokens per instance and day; 0 means no limit. */
  readonly #most: number;
  /** The tokens that each instance used on the day that was read last. */
  readonly #spent = new Map<InstanceId, Spent>();

  constructor(store: Pick<ChatbotStore, 'tokens' | 'addTokens'>, time: Pick<Time, 'now'>, most: number) {
    this.#store = store;
    this.#time = time;
    this.#most = most;
  }

  /** Returns true if the limit is reached. Calls under way are not counted yet, so their tokens can exceed the limit. */
  async isUsedUp(instance: InstanceId): Promise<boolean> {
    return this.#most > 0 && (await this.#today(instance)).tokens >= this.#most;
  }

  async spend(claim: Claim, tokens: number): Promise<void> {
    const today = await this.#today(claim.instanceId);
    today.tokens += tokens;
    await this.#store.addTokens(claim, today.day, tokens);
  }

  forget(instance: InstanceId): void {
    this.#spent.delete(instance);
  }

  async #today(instance: InstanceId): Promise<Spent> {
    const day = new Date(this.#time.now()).toISOString().slice(0, 10);
    const known = this.#spent.get(instance);
    if (known?.day === day) return known;
    const read = { day, tokens: await this.#store.tokens(instance, day) };
    // Another call may have read the day meanwhile.
    const now = this.#spent.get(instance);
    if (now?.day === day) return now;
    this.#spent.set(instance, read);
    return read;
  }
}

// Builds the input of an agent from a chat: the remembered messages and the question, as one dialogue. Pure functions over messages in order, oldest first.

/** Returns true for an edit of an earlier message in the list. That message already has the new text. */
const isEdit = ({ edited }: Message, at: number, all: readonly Message[]): boolean =>
  edited !== '' && all.findIndex(({ messageId }) => messageId === edited) < at && all.some(({ messageId }) => messageId === edited);

/** Returns the texts that wait for an answer. If no ids are given, these are all texts after the last own message. */
export const messagesToAnswer = (all: readonly Message[], asked: readonly string[], oldest: number): readonly Message[] => {
  const behind = all.findLastIndex(({ fromMe }) => fromMe);
  return all.filter(
    (message, at) =>
      !message.fromMe &&
      (asked.length > 0 ? asked.includes(message.messageId) : at > behind) &&
      message.timestamp >= oldest &&
      message.status !== 'Deleted' &&
      inputTextOf(message) !== '' &&
      !isEdit(message, at, all),
  );
};

const lost: ReadonlySet<string> = new Set(['Failed', 'Canceled', 'Deleted']);

/** Returns the line with the name of the agent, which begins the answers of an agent with `signMessages`. */
export const signatureOf = ({ name }: ChatbotAgent): string => `*${name}:*\n`;

const spoken = (message: Message, agent: ChatbotAgent): string => {
  const words = inputTextOf(message) || (message.type === 'media' ? `[${message.mediaType}]` : '');
  const signature = signatureOf(agent);
  if (message.fromMe) return words.startsWith(signature) ? words.slice(signature.length) : words;
  return message.isGroup && words !== '' ? `${message.senderName || message.sender.split('@')[0]}: ${words}` : words;
};

const hourMs = 3_600_000;

/** Joins consecutive texts of one side to one message. Every model accepts a dialogue in which the sides alternate. */
export const joined = (texts: readonly { readonly by: 'user' | 'assistant'; readonly text: string }[]): readonly ModelMessage[] => {
  const dialogue: ModelMessage[] = [];
  for (const { by, text } of texts) {
    const last = dialogue.at(-1);
    if (last?.by === by) dialogue[dialogue.length - 1] = { ...last, text: `${last.text}\n${text}` };
    else dialogue.push(by === 'user' ? { by, text } : { by, text, wishes: [] });
  }
  return dialogue;
};

/** Returns the messages for the model: the remembered part of the conversation, and then the question. */
export const dialogueOf = (
  all: readonly Message[],
  question: readonly Message[],
  { agent, resetAt, now }: { readonly agent: ChatbotAgent; readonly resetAt: number; readonly now: number },
): readonly ModelMessage[] => {
  const readable = all.filter(
    (message, at) =>
      message.timestamp > resetAt &&
      !lost.has(message.status) &&
      spoken(message, agent) !== '' &&
      !isEdit(message, at, all) &&
      !question.includes(message),
  );
  const recent = now - agent.memoryHours * hourMs;
  const room = Math.max(0, agent.memoryMost - question.length);
  const kept = readable.slice(readable.length - Math.min(room, readable.length));
  const remembered = kept.filter(({ timestamp }, at) => timestamp >= recent || kept.length - at <= agent.memoryLeast);
  return joined(
    [...remembered, ...question].map((message) => ({ by: message.fromMe ? 'assistant' : 'user', text: spoken(message, agent) })),
  );
};

/**
 * Splits a text into parts of at most `most` characters. Each cut is at the end of a paragraph, a line, a sentence or a word if there is one. A `most` of 0
 * means one part. The last of `count` parts contains the whole remaining text.
 */
export const piecesOf = (text: string, most: number, count = Infinity): readonly string[] => {
  const pieces: string[] = [];
  let rest = text.trim();
  if (most <= 0) return rest === '' ? [] : [rest];
  while (rest.length > most && pieces.length < count - 1) {
    const head = rest.slice(0, most + 1);
    const ends = ['\n\n', '\n', '. ', ' '].map((end) => ({ end, at: head.lastIndexOf(end) })).filter(({ at }) => at > 0);
    const cut = ends.find(({ at }) => at > most / 3) ?? ends.at(-1);
    // The cut must not separate the two halves of a surrogate pair.
    const hard = /[\uD800-\uDBFF]/.test(rest[most - 1] ?? '') && most > 1 ? most - 1 : most;
    const at = cut ? cut.at + (cut.end === '. ' ? 1 : 0) : hard;
    pieces.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return rest === '' ? pieces : [...pieces, rest];
};

// Bounds the metadata that is stored with the first message of an answer. Pure functions.

/** Limits of one text and of one list in the metadata. In characters. */
const toldText = 8_000;
const toldList = 16_000;

const shortened = (value: unknown): unknown => {
  if (typeof value === 'string') return cutText(value, toldText);
  if (Array.isArray(value)) return value.map(shortened);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]));
};

/** Returns the first items that fit into `toldList` characters. */
const fitting = (list: readonly unknown[]): readonly unknown[] => {
  let room = toldList;
  return list.map(shortened).filter((one) => (room -= JSON.stringify(one).length) >= 0);
};

/** Bounds the metadata. Keeps the newest messages of the request. */
export const boundedMetadata = ({ agentId, request, response }: AiMetadata): AiMetadata => ({
  agentId,
  request: { ...request, messages: fitting(request.messages.toReversed()).toReversed(), tools: fitting(request.tools) },
  response: { ...response, choices: fitting(response.choices), toolResults: fitting(response.toolResults) },
});
