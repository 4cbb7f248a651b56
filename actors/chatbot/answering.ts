/**
 * The steps of an answer: the decision to answer, the request to the model, and the sending. A conversation is identified by its instance and its chat
 * (`Talk`).
 */
import {
  cutAtSentence,
  inputTextOf,
  longestText,
  type AiMetadata,
  type Chat,
  type ChatbotAgent,
  type ChatbotState,
  type ChatbotTrigger,
  type InstanceId,
  type Send,
} from '../model.ts';
import type { ChatbotPolicy } from '../policy/policy.ts';
import type { ModelAnswer, ModelQuestion, Ports, ToolWish, ModelMessage } from '../ports.ts';
import type { Recorded } from '../session/requests.ts';
import { fillPlaceholders } from '../text.ts';
import { type Asking, boundedMetadata, type Budget, dialogueOf, messagesToAnswer, piecesOf, signatureOf } from './asking.ts';
import { type Crew, isStop, keyFor, type Roster, triggerFor } from './rules.ts';
import { optionsOf, runTool, sendOf, sendOnce, type ChatbotCommands } from './tools.ts';

interface AnsweringInput {
  readonly ports: Pick<Ports, 'messages' | 'chats' | 'definitions' | 'chatModels' | 'chatbotFields' | 'placeholder' | 'time' | 'log'>;
  readonly policy: ChatbotPolicy;
  readonly commands: ChatbotCommands;
  readonly roster: Roster;
  readonly asking: Asking;
  readonly budget: Budget;
  /** Returns null if the instance is gone. */
  cell(id: InstanceId): Recorded | null;
}

/** The identity of a conversation. */
export interface Talk {
  readonly instance: InstanceId;
  readonly chatId: string;
}

/** The question to answer, and the trigger that answers. */
export interface Plan {
  readonly trigger: ChatbotTrigger;
  /** The agent, or null for a quick reply. */
  readonly agent: ChatbotAgent | null;
  readonly crew: Crew;
  readonly chat: Chat | null;
  /** The id of the last message of the question. The idempotency key of the answer contains this id. */
  readonly question: string;
  readonly dialogue: readonly ModelMessage[];
  /** True after a tool was used. The question then does not restart. */
  acted: boolean;
  /** True after a tool handed the chat over to a person. The answer is then sent although the chat is paused. */
  handedOver: boolean;
}

export interface Answer {
  readonly text: string;
  /** Null for a quick reply. */
  readonly metadata: AiMetadata | null;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** The largest number of messages that are read, even if the memory of an agent allows more. */
const mostRead = 250;

const keyOf = ({ chatId }: Talk, question: string, part: string): string => `chatbot ${chatId} ${question} ${part}`;

/** Returns the number of answers that the chat got today. */
const answersToday = ({ answersDay, answersCount }: ChatbotState, now: number): number =>
  answersDay === Math.floor(now / dayMs) ? answersCount : 0;

/** Estimates the number of tokens of a question, at four characters a token. */
export const estimatedTokens = (prompt: string, dialogue: readonly ModelMessage[]): number =>
  Math.ceil(dialogue.reduce((sum, { text }) => sum + text.length, prompt.length) / 4);

export interface Asker {
  readonly instance: InstanceId;
  readonly crew: Crew;
  /** The chat whose fields fill the placeholders of the prompt. Null for a trial. */
  readonly chat: Chat | null;
  readonly agent: ChatbotAgent;
}

/** Returns the question to the model of an agent, without its dialogue. */
export const questionFor = async (
  {
    ports,
    policy,
    cell,
  }: Pick<AnsweringInput, 'policy' | 'cell'> & { readonly ports: Pick<Ports, 'chatModels' | 'definitions' | 'placeholder'> },
  { instance, crew, chat, agent }: Asker,
): Promise<Omit<ModelQuestion, 'dialogue'>> => {
  const key = keyFor(agent, crew.keys.get(agent.id), cell(instance)?.record.aiApikey ?? '', ports.chatModels);
  const filled = fillPlaceholders({ kind: 'text', text: agent.prompt, preview: null }, chat, ports.placeholder);
  const labels = agent.tools.includes('addLabel') ? await ports.definitions.all(instance, 'label') : [];
  const maxTokens = agent.maxTokens > 0 ? Math.min(agent.maxTokens, policy.answerTokens) : policy.answerTokens;
  const prompt = filled.kind === 'text' ? filled.text : agent.prompt;
  return { agent, key, prompt, maxTokens, labels: labels.flatMap(({ name, deleted }) => (deleted ? [] : [name])) };
};

export class Answering {
  readonly #input: AnsweringInput;

  constructor(input: AnsweringInput) {
    this.#input = input;
  }

  /**
   * Plans the answer to the messages with these ids, or to all unanswered messages if there are no ids. `held`: the milliseconds by which a message may be
   * older than `ChatbotPolicy.fresh`. Returns null if there is nothing to answer. A stop keyword pauses the conversation.
   */
  async decide(talk: Talk, asked: readonly string[], held: number): Promise<Plan | null> {
    const { ports, policy, roster } = this.#input;
    const record = this.#input.cell(talk.instance)?.record;
    if (!record?.chatbotEnabled) return null;
    const crew = await roster.of(talk.instance);
    if (crew.triggers.length === 0 && record.chatbotStopConversation === '') return null;
    const limit = Math.min(mostRead, Math.max(policy.burst, ...crew.agents.map(({ memoryMost }) => memoryMost)) + policy.burst);
    const [{ messages }, chat] = await Promise.all([
      ports.messages.find(talk.instance, { chatId: talk.chatId, limit, offset: 0 }),
      ports.chats.get(talk.instance, talk.chatId),
    ]);
    const [all, now] = [messages.toReversed(), ports.time.now()];
    const question = messagesToAnswer(all, asked, now - policy.fresh - held);
    const last = question.at(-1);
    if (!last || (last.isGroup && record.chatbotIgnoreGroups)) return null;
    if (question.some((message) => isStop(inputTextOf(message), record.chatbotStopConversation))) {
      this.pause(talk, record.chatbotStopMinutes);
      return null;
    }
    const state = ports.chatbotFields.stateOf(chat);
    if (state.disabledUntil > now) return null;
    const lead = (field: string): string => ports.chatbotFields.leadText(chat, field);
    const text = question.map(inputTextOf).join('\n');
    const trigger = triggerFor(crew, { text, isGroup: last.isGroup, state, lead, now });
    if (!trigger) return null;
    if (answersToday(state, now) >= policy.answersPerDay) return this.#limited(talk);
    const agent = trigger.type === 'agent' ? (crew.agents.find(({ id }) => id === trigger.agentId) ?? null) : null;
    const dialogue = agent ? dialogueOf(all, question, { agent, resetAt: state.memoryResetAt, now }) : [];
    return { trigger, agent, crew, chat, question: last.messageId, dialogue, acted: false, handedOver: false };
  }

  /** Pauses the chatbot in a conversation for some minutes, with a `chats` event. */
  pause({ instance, chatId }: Talk, minutes: number): void {
    const { ports } = this.#input;
    if (minutes <= 0) return;
    const extra = ports.chatbotFields.fieldsOf({ disabledUntil: ports.time.now() + minutes * minuteMs });
    this.#input.cell(instance)?.recorder.record([{ kind: 'chat', chat: { chatId, extra }, create: false, tell: 'chats' }]);
  }

  /** Returns the answer of the agent, or an empty answer for a quick reply. Returns null if there is no answer, and logs the reason. */
  async think(talk: Talk, plan: Plan, signal: AbortSignal): Promise<Answer | null> {
    const { budget, commands, policy } = this.#input;
    if (!plan.agent) return { text: '', metadata: null };
    if (await budget.isUsedUp(talk.instance)) return this.#silent(talk, plan, 'the tokens of the day are used up');
    const typing = commands.showTyping(talk.instance, talk.chatId, 'composing', policy.timeout).catch(() => null);
    const answer = await this.#ask(talk, plan, plan.agent, signal);
    await typing;
    if (answer === null || answer.text === '') this.hush(talk);
    return answer;
  }

  /** Ends the typing that the chat shows. */
  hush({ instance, chatId }: Talk): void {
    void this.#input.commands.showTyping(instance, chatId, 'paused', 0).catch(() => null);
  }

  /** Sends the answer or the quick reply. A question is answered once, even after a kill. */
  async send(talk: Talk, plan: Plan, answer: Answer, signal: AbortSignal): Promise<void> {
    const { ports } = this.#input;
    const { trigger, agent } = plan;
    const sends = agent ? this.#textsOf(talk, agent, answer) : await this.#quickReply(talk, trigger);
    if (sends.length === 0) return;
    const now = ports.time.now();
    const state = ports.chatbotFields.stateOf(await ports.chats.get(talk.instance, talk.chatId));
    const fields = ports.chatbotFields.fieldsOf({
      lastTriggerAt: now,
      lastTriggerId: trigger.id,
      answersDay: Math.floor(now / dayMs),
      answersCount: answersToday(state, now) + 1,
    });
    await this.#input
      .cell(talk.instance)
      ?.recorder.append({ kind: 'chat', chat: { chatId: talk.chatId, extra: fields }, create: false, tell: 'chats' });
    for (const [at, send] of sends.entries()) {
      if (signal.aborted) return;
      if (!(await this.#goesOn(talk, plan))) return this.hush(talk);
      if (signal.aborted) return;
      const options = optionsOf(keyOf(talk, plan.question, String(at)), {
        delay: (agent?.typingSeconds ?? 0) * 1000,
        readChat: at === 0 && (agent?.readMessages ?? false),
        ...(at === 0 && answer.metadata ? { aiMetadata: answer.metadata } : {}),
      });
      const sent = await sendOnce(this.#input.commands, talk.instance, send, options);
      if (!sent.ok) return void this.#silent(talk, plan, sent.refusal.message);
    }
  }

  /** Returns true if the rest of an answer is still wanted. A person may have paused the chatbot, switched it off, or deleted its agent meanwhile. */
  async #goesOn({ instance, chatId }: Talk, { agent, handedOver }: Plan): Promise<boolean> {
    const { ports, roster } = this.#input;
    if (!this.#input.cell(instance)?.record.chatbotEnabled) return false;
    if (agent && !(await roster.of(instance)).agents.some(({ id }) => id === agent.id)) return false;
    if (handedOver) return true;
    return ports.chatbotFields.stateOf(await ports.chats.get(instance, chatId)).disabledUntil <= ports.time.now();
  }

  #textsOf({ chatId }: Talk, agent: ChatbotAgent, { text }: Answer): readonly Send[] {
    const signature = agent.signMessages ? signatureOf(agent) : '';
    return piecesOf(text, agent.maxMessageLength, this.#input.policy.pieces).map((piece) =>
      sendOf(chatId, { kind: 'text', text: cutAtSentence(signature + piece, longestText), preview: null }),
    );
  }

  async #quickReply({ instance, chatId }: Talk, { quickReplyId }: ChatbotTrigger): Promise<readonly Send[]> {
    const reply = (await this.#input.ports.definitions.all(instance, 'quickReply')).find(({ id }) => id === quickReplyId);
    if (!reply) return [];
    const { text, type, file, docName } = reply;
    if (type === 'text') return [{ ...sendOf(chatId, { kind: 'text', text, preview: null }), literal: false }];
    const given = { source: file, as: type, thumbnail: '', mimetype: '', filename: docName };
    return [{ ...sendOf(chatId, { kind: 'media', as: type, file: given, caption: text, viewOnce: false }), literal: false }];
  }

  async #ask(talk: Talk, plan: Plan, agent: ChatbotAgent, signal: AbortSignal): Promise<Answer | null> {
    const { policy, asking } = this.#input;
    const question = await questionFor(this.#input, { instance: talk.instance, crew: plan.crew, chat: plan.chat, agent });
    const dialogue = [...plan.dialogue];
    const toolResults: unknown[] = [];
    for (let round = 0; round <= policy.toolRounds; round += 1) {
      const answer = await asking.ask(talk.instance, { ...question, dialogue }, signal);
      // A cancelled request costs tokens, too.
      if (signal.aborted) await this.#spend(talk, answer.ok ? answer.tokens : estimatedTokens(question.prompt, dialogue));
      if (signal.aborted) return null;
      if (!answer.ok) return this.#silent(talk, plan, answer.error);
      await this.#spend(talk, answer.tokens);
      if (answer.wishes.length === 0 || round === policy.toolRounds) return this.#answerOf(talk, plan, agent, answer, toolResults);
      // One call above the limit is kept, so that the model reads the refusal.
      const wishes = answer.wishes.slice(0, policy.toolCalls + 1);
      dialogue.push({ by: 'assistant', text: answer.text, wishes });
      for (const wish of wishes) {
        if (signal.aborted) return null;
        plan.acted = true;
        const text = await this.#use(talk, plan, question, wish, toolResults.length);
        dialogue.push({ by: 'tool', wish: wish.id, text });
        toolResults.push({ name: wish.name, arguments: wish.arguments, result: text });
      }
    }
    return null;
  }

  async #use(talk: Talk, plan: Plan, question: Omit<ModelQuestion, 'dialogue'>, wish: ToolWish, number: number): Promise<string> {
    const { ports, commands } = this.#input;
    if (number >= this.#input.policy.toolCalls) return 'not done: too many tools for one answer';
    const call = ports.chatModels.toolCall(question, wish);
    if (!call.ok) return `not done: ${call.refusal.message}`;
    if (call.value.tool === 'handOver') plan.handedOver = true;
    const around = { commands, definitions: ports.definitions, fields: ports.chatbotFields, now: () => ports.time.now() };
    const place = { ...talk, agent: question.agent, key: keyOf(talk, plan.question, `tool ${number}`) };
    ports.log.info({ instance: talk.instance, agent: question.agent.id, tool: call.value.tool }, 'chatbot.toolUsed');
    return runTool(around, place, call.value);
  }

  #answerOf(
    talk: Talk,
    plan: Plan,
    agent: ChatbotAgent,
    { text, wishes, request, choices }: ModelAnswer & { readonly ok: true },
    toolResults: readonly unknown[],
  ): Answer | null {
    // An empty text is an answer only after tool calls, and only if the model requests no more tools.
    if (text.trim() === '' && toolResults.length === 0) return this.#silent(talk, plan, 'the model said nothing');
    if (text.trim() === '' && wishes.length > 0)
      return this.#silent(talk, plan, 'the model reached the limit of tool calls without an answer');
    return { text, metadata: boundedMetadata({ agentId: agent.id, request, response: { choices, toolResults, error: '' } }) };
  }

  /** Counts tokens. A failure is only logged, so that a failed write does not prevent the answer. */
  async #spend({ instance }: Talk, tokens: number): Promise<void> {
    const record = this.#input.cell(instance)?.record;
    if (!record) return;
    await this.#input.budget.spend({ instanceId: instance, epoch: record.epoch }, tokens).catch((error: unknown) => {
      this.#input.ports.log.warn({ instance, error }, 'chatbot.tokensNotCounted');
    });
  }

  #limited({ instance }: Talk): null {
    this.#input.ports.log.warn({ instance, perDay: this.#input.policy.answersPerDay }, 'chatbot.limited');
    return null;
  }

  #silent({ instance }: Talk, { agent }: Plan, reason: string): null {
    this.#input.ports.log.warn({ instance, agent: agent?.id ?? '', reason }, 'chatbot.notAnswered');
    return null;
  }
}
