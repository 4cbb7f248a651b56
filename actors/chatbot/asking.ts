/**
 * Asks a model service, with a concurrency limit, retries, a deadline and a circuit breaker. A slow or failing service therefore delays
 * only its own agents.
 */
import { Circuit } from '../delivery/receiver-health.ts';
import type { Claim, InstanceId } from '../model.ts';
import { backOff, createSlots, type Slots } from '../policy/pacing.ts';
import type { ChatbotPolicy, DeliveryPolicy } from '../policy/policy.ts';
import type { Chance, ChatbotStore, Meter, ModelAnswer, ModelQuestion, Ports, Time } from '../ports.ts';

export interface AskingInput {
  readonly ports: Pick<Ports, 'chatModels' | 'time' | 'chance' | 'meter'>;
  readonly policy: ChatbotPolicy;
  /** Policy of webhooks, whose circuit rules apply. */
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
    // A retry after this time would come too late for the conversation.
    this.#delivery = { ...delivery, circuit: policy.circuit, retryAfterMax: Math.min(delivery.retryAfterMax, policy.fresh) };
    this.#slots = createSlots({ total: policy.atOnce.total, perHost: policy.atOnce.perInstance });
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
        // A cancelled request says nothing about the service. A question that the service refuses says nothing either.
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
  /** Limit of tokens per instance and day; 0 means no limit. */
  readonly #most: number;
  /** Days that were read from storage. */
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
