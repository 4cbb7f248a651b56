/** The chatbot in memory: its rows, and commands of the gateway with one agent and one trigger. */
import { done, refuse, type ChatbotAgent, type ChatbotTrigger, type Gateway, type Result } from '#actors/gateway.ts';
import { type Claim, newAgent, newTrigger } from '#actors/model.ts';
import type { AgentKey, AgentService, ChatbotStore, ChatModels, ModelAnswer, ModelQuestion, ToolWish } from '#actors/ports.ts';
import { toolCallOf } from '#src/chatbot/tools.ts';
import { now } from '#test/contract/samples.ts';
import type { Attempt } from './definitions.ts';
import type { FakeDatabase } from './storage.ts';
import type { FakeTime } from './time.ts';

export const sampleAgent: ChatbotAgent = {
  ...newAgent,
  id: 'a1',
  name: 'Ada',
  provider: 'custom',
  baseUrl: 'http://models.test/v1',
  model: 'small',
  prompt: 'You sell flowers.',
};

export const sampleTrigger: ChatbotTrigger = { ...newTrigger, id: 't1', agentId: 'a1' };

const agent = { ...sampleAgent, created: now, updated: now };
const trigger = { ...sampleTrigger, created: now, updated: now };

interface Edit {
  readonly id: string;
  readonly delete: boolean;
  readonly fields: object;
}

/** Returns a refusal if a new agent lacks its required field, or if a deletion names no id. */
const problemOf = ({ id, delete: gone, fields }: Edit, least: string): Result<never> | null => {
  if (id !== '') return null;
  if (gone) return refuse('notFound', 'not found');
  return least in fields ? null : refuse('invalid', `${least} is required`);
};

export const chatbotCommands = (
  attempt: Attempt,
): Pick<Gateway, 'agents' | 'editAgent' | 'triggers' | 'editTrigger' | 'tryAgent' | 'endTrial' | 'chatbotUsage'> => ({
  agents: async () => {
    await attempt(() => done(null));
    return [{ agent, hasKey: true }];
  },
  editAgent: (_id, edit) => attempt(() => problemOf(edit, 'name') ?? done({ agent, hasKey: true, made: edit.id === '' })),
  triggers: async () => {
    await attempt(() => done(null));
    return [trigger];
  },
  editTrigger: (_id, edit) => attempt(() => problemOf(edit, 'agentId') ?? done({ trigger, made: edit.id === '' })),
  tryAgent: () => attempt(() => done({ text: 'We open at nine.', error: '', tokens: 15, tools: [] })),
  endTrial: async () => done(null),
  chatbotUsage: async () => {
    await attempt(() => done(null));
    return { limit: 1_000_000, days: [{ day: '2026-08-19', tokens: 15 }] };
  },
});

export class FakeChatbots implements ChatbotStore {
  /** Keys by instance and agent. */
  readonly allKeys = new Map<string, AgentKey>();
  /** Usage by instance and day. */
  readonly usedTokens = new Map<string, number>();
  readonly #db: FakeDatabase;

  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  keys = (instance: string) =>
    this.#db.run(
      'chatbots.keys',
      () =>
        new Map(
          [...this.allKeys].flatMap(([name, key]) =>
            name.startsWith(`${instance} `) ? [[name.slice(instance.length + 1), key] as const] : [],
          ),
        ),
    );

  saveKey = (claim: Claim, { id, provider, baseUrl }: Pick<ChatbotAgent, 'id'> & AgentService, key: string) =>
    this.#db.run('chatbots.saveKey', () => {
      this.#db.claim(claim);
      if (key === '') this.allKeys.delete(`${claim.instanceId} ${id}`);
      else this.allKeys.set(`${claim.instanceId} ${id}`, { key, service: { provider, baseUrl } });
    });

  tokens = (instance: string, day: string) => this.#db.run('chatbots.tokens', () => this.usedTokens.get(`${instance} ${day}`) ?? 0);

  usage = (instance: string) =>
    this.#db.run('chatbots.usage', () =>
      [...this.usedTokens]
        .flatMap(([name, tokens]) => (name.startsWith(`${instance} `) ? [{ day: name.slice(instance.length + 1), tokens }] : []))
        .toSorted((a, b) => b.day.localeCompare(a.day)),
    );

  addTokens = (claim: Claim, day: string, tokens: number) =>
    this.#db.run('chatbots.addTokens', () => {
      this.#db.claim(claim);
      const name = `${claim.instanceId} ${day}`;
      this.usedTokens.set(name, (this.usedTokens.get(name) ?? 0) + tokens);
    });

  unanswered = (instance: string, since: number, limit: number) =>
    this.#db.run('chatbots.unanswered', () =>
      this.#db
        .chatsOf(instance)
        .filter(
          ({ chatId, lastMessageTimestamp }) =>
            lastMessageTimestamp >= since && this.#db.messagesOf(instance).findLast((one) => one.chatId === chatId)?.fromMe === false,
        )
        .toSorted((a, b) => b.lastMessageTimestamp - a.lastMessageTimestamp)
        .slice(0, limit)
        .map(({ chatId }) => ({ chatId })),
    );
}

/** Returns a successful answer of a model. */
export const said = (text: string, wishes: readonly ToolWish[] = [], tokens = 10): ModelAnswer => ({
  ok: true,
  text,
  wishes,
  tokens,
  request: { messages: [], tools: [], options: {} },
  choices: [{ message: { content: text } }],
});

/** A model whose answers the test sets. */
export class FakeChatModels implements ChatModels {
  readonly asked: { readonly question: ModelQuestion; readonly at: number; readonly signal: AbortSignal }[] = [];
  /** The number of running calls. */
  busy = 0;
  /** The largest number of calls that ran at the same time. */
  most = 0;
  originOf = ({ provider, baseUrl }: AgentService): string => URL.parse(baseUrl)?.origin ?? provider;
  answer: (question: ModelQuestion, signal: AbortSignal) => ModelAnswer | Promise<ModelAnswer> = () => said('Hello!');
  readonly #time: FakeTime;

  constructor(time: FakeTime) {
    this.#time = time;
  }

  objection = ({ baseUrl }: { readonly baseUrl: string }): string | null => (baseUrl.includes('private') ? 'baseUrl cannot be used' : null);
  toolCall = toolCallOf;

  async ask(question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer> {
    this.asked.push({ question, at: this.#time.now(), signal });
    this.busy += 1;
    this.most = Math.max(this.most, this.busy);
    try {
      return await this.answer(question, signal);
    } finally {
      this.busy -= 1;
    }
  }

  /** Returns a model function that answers after `ms` milliseconds, or fails at once when its signal aborts. */
  after(ms: number, answer: ModelAnswer): (question: ModelQuestion, signal: AbortSignal) => Promise<ModelAnswer> {
    return (_question, signal) =>
      new Promise((resolve) => {
        const timer = this.#time.setTimeout(() => resolve(answer), ms);
        signal.addEventListener('abort', () => {
          this.#time.clearTimeout(timer);
          resolve({ ok: false, error: 'given up', cause: 'busy' });
        });
      });
  }
}
