/**
 * The conversations of all instances. A text starts a conversation. The number of conversations is limited. A conversation ends with its instance. The chatbot
 * reads committed events, as couriers do, so that no message waits for the chatbot.
 */
import { createActor, type ActorRefFrom } from 'xstate';
import { trackSource as chatwootSource } from '../chatwoot/conversations.ts';
import { done, refuse, type GatewayEvent, type InstanceId, type InstanceRecord } from '../model.ts';
import type { ChatbotPolicy, DeliveryPolicy } from '../policy/policy.ts';
import { StorageFailure, type Ports } from '../ports.ts';
import type { Recorded } from '../session/requests.ts';
import type { Gateway } from '../views.ts';
import { Answering, type Talk } from './answering.ts';
import { Asking, Budget } from './asking.ts';
import { conversation } from './conversation.ts';
import { isAnswerable, isStop, Roster } from './rules.ts';
import { Trials } from './trial.ts';
import type { InstanceReader } from '../supervisor/registry.ts';
import type { ChatbotCommands } from './tools.ts';

interface ChatbotInput {
  readonly ports: Ports;
  readonly policy: { readonly chatbot: ChatbotPolicy; readonly delivery: DeliveryPolicy };
  readonly commands: ChatbotCommands;
  /** Returns null if the instance is gone. */
  cell(id: InstanceId): Recorded | null;
}

type Conversation = ActorRefFrom<typeof conversation>;

/** The origins of messages that people write: agents in Chatwoot, and readers of the dashboard (`src/web/page/chats/drafts.js`). */
const peopleSources: ReadonlySet<string> = new Set([chatwootSource, 'dormouse-dashboard']);

export class Chatbot implements InstanceReader {
  readonly #input: ChatbotInput;
  readonly #roster: Roster;
  readonly #asking: Asking;
  readonly #budget: Budget;
  readonly #answering: Answering;
  readonly #trials: Trials;
  /** Conversations by instance and chat, least recently used first. */
  readonly #talks = new Map<InstanceId, Map<string, Conversation>>();
  /** Instances whose unanswered questions were already searched. */
  readonly #resumed = new Set<InstanceId>();
  #stopped = false;

  constructor(input: ChatbotInput) {
    const { ports, policy, commands } = input;
    this.#input = input;
    this.#roster = new Roster(ports);
    this.#asking = new Asking({ ports, policy: policy.chatbot, delivery: policy.delivery });
    this.#budget = new Budget(ports.chatbots, ports.time, policy.chatbot.tokensPerDay);
    const { roster, asking, budget } = { roster: this.#roster, asking: this.#asking, budget: this.#budget };
    this.#answering = new Answering({ ports, policy: policy.chatbot, commands, roster, asking, budget, cell: input.cell });
    this.#trials = new Trials({ ports, policy: policy.chatbot, roster, asking, budget, cell: input.cell });
  }

  /** Handles a committed event. */
  note({ type, instanceId, lane, message }: GatewayEvent): void {
    if (type !== 'messages' || message === null || !isAnswerable(lane)) return;
    const record = this.#input.cell(instanceId)?.record;
    if (!record?.chatbotEnabled) return;
    const talk = { instance: instanceId, chatId: lane };
    if (!message.fromMe) return this.#hear(record, talk, message);
    // Messages of the API are not words of the owner, because programs send reminders and receipts. Messages that people write in Chatwoot or in the
    // dashboard count as words of the owner.
    if (!message.wasSentByApi || peopleSources.has(message.trackSource ?? '')) this.#silence(talk, record.chatbotStopWhenYouSendMsg);
  }

  readonly commands: Pick<Gateway, 'tryAgent' | 'endTrial'> = {
    tryAgent: async (id, trial) => (this.#stopped ? refuse('unavailable', 'the server is stopping') : this.#trials.run(id, trial)),
    endTrial: async (id, key) => {
      this.#trials.end(id, key);
      return done(null);
    },
  };

  live(cell: Recorded): void {
    void this.#resume(cell);
  }

  /** Applies a change of the settings, agents, triggers or keys of the instance. */
  changed(id: InstanceId): void {
    this.#roster.forget(id);
    this.#asking.forget(id);
    if (!this.#input.cell(id)?.record.chatbotEnabled) this.#endTalks(id);
  }

  /** Ends the conversations of an instance that is gone, and clears its caches. */
  forget(id: InstanceId): void {
    this.#endTalks(id);
    this.#trials.forget(id);
    this.#resumed.delete(id);
    this.#roster.forget(id);
    this.#asking.forget(id);
    this.#budget.forget(id);
  }

  /** Ends all conversations. The next start finds the open questions again. */
  stop(): void {
    this.#stopped = true;
    for (const id of this.#talks.keys()) this.forget(id);
    this.#trials.stop();
  }

  /** Answers recent questions that a kill left unanswered, when the session becomes live for the first time. Never rejects. */
  async #resume({ record }: Recorded): Promise<void> {
    const { id } = record;
    if (!record.chatbotEnabled || this.#resumed.has(id)) return;
    this.#resumed.add(id);
    const { ports, policy } = this.#input;
    const { fresh, conversations } = policy.chatbot;
    try {
      const pending = await ports.chatbots.unanswered(id, ports.time.now() - fresh, conversations);
      for (const { chatId } of pending) if (isAnswerable(chatId)) this.#tell({ instance: id, chatId }, '');
    } catch (error) {
      ports.log.warn({ instance: id, error }, 'chatbot.notResumed');
    }
  }

  #hear(record: InstanceRecord, talk: Talk, { isGroup, keyword = '', messageId = '' }: NonNullable<GatewayEvent['message']>): void {
    if (isGroup && record.chatbotIgnoreGroups) return;
    if (isStop(keyword, record.chatbotStopConversation)) this.#silence(talk, record.chatbotStopMinutes);
    else this.#tell(talk, messageId);
  }

  /** Silences the chatbot: ends the current answer, and pauses the conversation for some minutes. */
  #silence(talk: Talk, minutes: number): void {
    this.#talks.get(talk.instance)?.get(talk.chatId)?.send({ type: 'conversation.silenced' });
    this.#answering.pause(talk, minutes);
  }

  /** Ends the conversations of an instance and cancels their calls. */
  #endTalks(id: InstanceId): void {
    for (const talk of this.#talks.get(id)?.values() ?? []) talk.stop();
    this.#talks.delete(id);
  }

  #tell(talk: Talk, messageId: string): void {
    if (this.#stopped) return;
    const { instance, chatId } = talk;
    const talks = this.#talks.get(instance) ?? new Map<string, Conversation>();
    this.#talks.set(instance, talks);
    const known = talks.get(chatId);
    if (!known && !this.#hasRoom(talks)) return this.#input.ports.log.warn({ instance, conversations: talks.size }, 'chatbot.full');
    const actor = known ?? this.#begin(talk, talks);
    talks.delete(chatId);
    talks.set(chatId, actor);
    actor.send({ type: 'text.came', messageId });
  }

  /** Returns true if a conversation may begin. A resting conversation is ended to make room. */
  #hasRoom(talks: Map<string, Conversation>): boolean {
    if (talks.size < this.#input.policy.chatbot.conversations) return true;
    const resting = [...talks].find(([, talk]) => talk.getSnapshot().value === 'resting');
    resting?.[1].stop();
    return resting !== undefined;
  }

  #begin(talk: Talk, talks: Map<string, Conversation>): Conversation {
    const { ports, policy } = this.#input;
    const { instance, chatId } = talk;
    const crashed = (error: unknown): void => {
      // An unavailable database is no crash. The next start finds the question again.
      if (error instanceof StorageFailure) return ports.log.warn({ instance, reason: 'the database is away' }, 'chatbot.notAnswered');
      ports.meter.crashed('chatbot');
      ports.log.error({ instance, error }, 'chatbot.crashed');
    };
    const answering = this.#answering;
    const actor = createActor(conversation, {
      clock: ports.time,
      input: {
        host: {
          time: ports.time,
          policy: policy.chatbot,
          decide: (asked, held) => answering.decide(talk, asked, held),
          think: (plan, signal) => answering.think(talk, plan, signal),
          send: (plan, answer, signal) => answering.send(talk, plan, answer, signal),
          drop: () => answering.hush(talk),
          crashed,
          limited: (perMinute, inARow) => ports.log.warn({ instance, perMinute, inARow }, 'chatbot.limited'),
        },
      },
    });
    const end = (): void => {
      if (talks.get(chatId) === actor) talks.delete(chatId);
      if (talks.size === 0 && this.#talks.get(instance) === talks) this.#talks.delete(instance);
    };
    actor.subscribe({
      complete: end,
      error: (error) => {
        crashed(error);
        end();
      },
    });
    return actor.start();
  }
}
