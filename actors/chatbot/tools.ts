/** Runs the tools of agents. Each tool is a command of the gateway. */
import type { DefinitionMethods, LeadMethods, MessageMethods, SendOptions } from '../views.ts';
import {
  refuse,
  type ChatbotAgent,
  type InstanceId,
  type Message,
  type Refusal,
  type Result,
  type Send,
  type SendContent,
} from '../model.ts';
import type { ChatbotFields, DefinitionStore, ToolCall } from '../ports.ts';

/** The commands that the chatbot uses. */
export type ChatbotCommands = Pick<LeadMethods, 'editLead'> &
  Pick<DefinitionMethods, 'labelChat'> &
  Pick<MessageMethods, 'send' | 'showTyping'>;

interface ToolSurroundings {
  readonly commands: ChatbotCommands;
  readonly definitions: DefinitionStore;
  readonly fields: ChatbotFields;
  now(): number;
}

interface ToolCaller {
  readonly instance: InstanceId;
  readonly chatId: string;
  readonly agent: ChatbotAgent;
  /** Idempotency key of the sends of the tool. */
  readonly key: string;
}

const minuteMs = 60_000;

/** Makes a send whose placeholders are not filled. Otherwise an agent could show a lead the notes about this lead. */
export const sendOf = (chatId: string, content: SendContent): Send => ({
  number: chatId,
  content,
  replyTo: '',
  mentions: [],
  forward: false,
  literal: true,
});

/** Returns options with an idempotency key. A second send with the same key sends nothing. */
export const optionsOf = (key: string, more: Partial<SendOptions> = {}): SendOptions => ({
  delay: 0,
  readChat: false,
  readMessages: false,
  trackSource: '',
  trackId: '',
  async: false,
  label: 'chatbot',
  payload: null,
  once: { key, request: key },
  ...more,
});

/** Sends now. If the session is not connected, queues the message under the same idempotency key, so that no message is sent twice. */
export async function sendOnce(
  commands: Pick<ChatbotCommands, 'send'>,
  instance: InstanceId,
  send: Send,
  options: SendOptions,
): Promise<Result<Message>> {
  const sent = await commands.send(instance, send, options);
  return !sent.ok && sent.refusal.reason === 'notSent' ? commands.send(instance, send, { ...options, async: true }) : sent;
}

const labelNamed = async ({ definitions }: ToolSurroundings, instance: InstanceId, name: string): Promise<string | undefined> =>
  (await definitions.all(instance, 'label')).find((label) => !label.deleted && label.name === name)?.id;

const done = (refusal: Refusal | null, text: string): string => (refusal ? `not done: ${refusal.message}` : text);
const refusalOf = (result: Result<unknown>): Refusal | null => (result.ok ? null : result.refusal);

/** Runs a tool and returns the text that the model reads. */
export async function runTool(around: ToolSurroundings, { instance, chatId, agent, key }: ToolCaller, call: ToolCall): Promise<string> {
  const { commands, fields } = around;
  switch (call.tool) {
    case 'setLeadField':
      return done(refusalOf(await commands.editLead(instance, chatId, call.fields)), 'done');
    case 'addLabel': {
      const label = await labelNamed(around, instance, call.label);
      const labelled =
        label === undefined
          ? refuse('notFound', 'there is no such label')
          : await commands.labelChat(instance, chatId, { kind: 'add', labelIds: [label] });
      return done(refusalOf(labelled), 'done');
    }
    case 'handOver': {
      const disabledUntil = around.now() + agent.handOverMinutes * minuteMs;
      const handed = await commands.editLead(instance, chatId, fields.fieldsOf({ disabledUntil, ticketOpen: true }));
      return done(refusalOf(handed), 'done: a person takes over, say so in one sentence');
    }
    case 'sendMedia': {
      const { as, file } = call.media;
      const given = { source: file, as, thumbnail: '', mimetype: '', filename: as === 'document' ? call.media.name : '' };
      const content: SendContent = { kind: 'media', as, file: given, caption: call.caption, viewOnce: false };
      return done(refusalOf(await sendOnce(commands, instance, sendOf(chatId, content), optionsOf(key))), 'sent');
    }
  }
}
