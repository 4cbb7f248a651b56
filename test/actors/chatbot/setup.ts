/** A gateway over a simulated world with an agent, a trigger, and a contact who writes. */
import type { ChatbotAgent, ChatbotTrigger, InstanceRecord, Message } from '#actors/model.ts';
import type { ChatbotPolicy, Policy } from '#actors/policy/policy.ts';
import { sampleAgent, sampleTrigger } from '#test/fakes/chatbot.ts';
import { settle, testPolicy, type World } from '#test/fakes/world.ts';
import { message as sampleMessage } from '#test/contract/samples.ts';
import { staged, Stage } from '../stage.ts';

export const chatId = '5511999990001@s.whatsapp.net';
export const groupId = '120363153742561022@g.us';

export interface Setting {
  readonly record?: Partial<InstanceRecord>;
  readonly agent?: Partial<ChatbotAgent>;
  readonly triggers?: readonly Partial<ChatbotTrigger>[];
  readonly policy?: Partial<ChatbotPolicy>;
  readonly more?: Partial<Policy>;
  readonly prepare?: (world: World) => void;
}

/** Stores a definition as the gateway stores it. */
const define = (world: World, of: 'chatbotAgent' | 'chatbotTrigger', value: { readonly id: string }): void => {
  const now = world.time.now();
  world.db.definitions.set(`r1 ${of} ${value.id}`, { of, value, instanceId: 'r1', created: now, updated: now } as never);
};

export class Bench extends Stage {
  #count = 0;

  static async open({ record, agent, triggers = [{}], policy, more, prepare = () => undefined }: Setting = {}): Promise<Bench> {
    const { world, gateway } = await staged(
      [{ id: 'r1', chatbotEnabled: true, ...record }],
      { ...more, chatbot: { ...testPolicy.chatbot, ...policy } },
      (made) => {
        define(made, 'chatbotAgent', { ...sampleAgent, ...agent });
        for (const [at, trigger] of triggers.entries()) define(made, 'chatbotTrigger', { ...sampleTrigger, id: `t${at + 1}`, ...trigger });
        prepare(made);
      },
    );
    return new Bench(world, gateway);
  }

  /** Delivers a message from the contact, or one that the owner wrote on a phone. Returns its id. */
  async hear(text: string, change: Partial<Message> = {}): Promise<string> {
    const messageId = `M${(this.#count += 1)}`;
    const { time } = this.world;
    const message: Message = {
      ...sampleMessage,
      id: `r${this.#count}`,
      messageId,
      chatId,
      chatLid: '',
      sender: chatId,
      senderPn: chatId,
      senderLid: '',
      isGroup: false,
      fromMe: false,
      wasSentByApi: false,
      messageType: 'Conversation',
      type: 'text',
      mediaType: '',
      text,
      content: text,
      timestamp: time.now(),
      status: '',
      edited: '',
      reaction: '',
      quoted: '',
      raw: null,
      queuedSend: null,
      ...change,
    };
    const chat = { chatId: message.chatId, lastMessageTimestamp: message.timestamp };
    this.link().host.record([{ kind: 'message', message, chat, unread: !message.fromMe }]);
    await settle();
    return message.messageId;
  }

  pass(ms: number): Promise<void> {
    return this.world.time.pass(ms);
  }

  /** Returns the texts that were sent. */
  get said(): readonly string[] {
    return this.link().sent.map(({ text }) => text);
  }

  /** Returns the requests to the model. */
  get asked() {
    return this.world.chatModels.asked;
  }

  /** Returns the last prompt that the model read, each line as `user: text`. */
  get read(): readonly string[] {
    return (this.asked.at(-1)?.question.dialogue ?? []).map(({ by, text }) => `${by}: ${text}`);
  }

  extra(chat = chatId): Readonly<Record<string, unknown>> {
    return this.world.db.chats.get(`r1 ${chat}`)?.extra ?? {};
  }
}
