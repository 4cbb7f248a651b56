/** Trials of agents. A trial is a conversation that no contact sees: it sends nothing, stores no message, and runs no tool. */
import { cutText, done, refuse, type ChatbotAgent, type InstanceId, type Result } from '../model.ts';
import type { ChatbotPolicy } from '../policy/policy.ts';
import type { ModelQuestion, Ports, ToolWish, ModelMessage } from '../ports.ts';
import type { Recorded } from '../session/requests.ts';
import type { AgentTrial, TrialAnswer, TrialTool } from '../views.ts';
import { estimatedTokens, questionFor } from './answering.ts';
import { type Asking, type Budget, joined } from './asking.ts';
import type { Crew, Roster } from './rules.ts';

interface TrialsInput {
  readonly ports: Pick<Ports, 'definitions' | 'chatModels' | 'placeholder' | 'time' | 'log'>;
  readonly policy: ChatbotPolicy;
  readonly roster: Roster;
  readonly asking: Asking;
  readonly budget: Budget;
  /** Returns null if the instance is gone. */
  cell(id: InstanceId): Recorded | null;
}

/** The result that the model reads after a valid tool call. */
const notRun = 'done (this is a trial, so that nothing was changed or sent)';

/** The time limit of one trial. A caller on another node waits 60 s for the answer. In milliseconds. */
const longestTrial = 50_000;

/** The largest size of the arguments of a tool call in the answer. In characters. */
const toldArguments = 8_000;

/** Returns the part of the dialogue that the agent would remember. The question of the user is its last text. */
const remembered = (dialogue: AgentTrial['dialogue'], { memoryMost }: ChatbotAgent): readonly ModelMessage[] =>
  joined(dialogue.slice(-memoryMost));

export class Trials {
  readonly #input: TrialsInput;
  /** The trial under way of each instance. */
  readonly #running = new Map<InstanceId, { readonly key: string; readonly end: AbortController }>();

  constructor(input: TrialsInput) {
    this.#input = input;
  }

  /** Answers a trial within the time-out of one question. The tokens count against the budget of the day. */
  async run(id: InstanceId, trial: AgentTrial): Promise<Result<TrialAnswer>> {
    const { ports, policy, roster, budget, cell } = this.#input;
    if (!cell(id)) return refuse('notFound', 'instance not found');
    if (this.#running.has(id)) return refuse('limited', 'another trial of this instance is under way', { retryAfter: 1 });
    const end = new AbortController();
    const running = { key: trial.key, end };
    this.#running.set(id, running);
    const timer = ports.time.setTimeout(() => end.abort(), Math.min(policy.timeout, longestTrial));
    try {
      const crew = await roster.of(id);
      const agent = crew.agents.find((one) => one.id === trial.agentId);
      if (!agent) return refuse('notFound', 'Agent not found');
      if (await budget.isUsedUp(id)) return refuse('limited', 'the tokens of the day are used up');
      return done(await this.#ask(id, { crew, agent, dialogue: remembered(trial.dialogue, agent) }, end.signal));
    } finally {
      ports.time.clearTimeout(timer);
      if (this.#running.get(id) === running) this.#running.delete(id);
    }
  }

  /** Ends the trial of an instance that was removed or moves to another node. */
  forget(id: InstanceId): void {
    this.#running.get(id)?.end.abort();
  }

  /** Ends the trial of this key. */
  end(id: InstanceId, key: string): void {
    const running = this.#running.get(id);
    if (running?.key === key) running.end.abort();
  }

  /** Ends all trials. */
  stop(): void {
    for (const { end } of this.#running.values()) end.abort();
  }

  async #ask(
    instance: InstanceId,
    { crew, agent, dialogue: asked }: { readonly crew: Crew; readonly agent: ChatbotAgent; readonly dialogue: readonly ModelMessage[] },
    signal: AbortSignal,
  ): Promise<TrialAnswer> {
    const { policy, asking } = this.#input;
    const question = await questionFor(this.#input, { instance, crew, chat: null, agent });
    const dialogue = [...asked];
    const tools: TrialTool[] = [];
    let tokens = 0;
    for (let round = 0; ; round += 1) {
      const answer = await asking.ask(instance, { ...question, dialogue }, signal);
      const used = answer.ok ? answer.tokens : signal.aborted ? estimatedTokens(question.prompt, dialogue) : 0;
      tokens += used;
      await this.#spend(instance, used);
      if (!answer.ok) return { text: '', error: signal.aborted ? 'no answer in time' : answer.error, tokens, tools };
      if (answer.wishes.length === 0 || round === policy.toolRounds) {
        const error = answer.text.trim() === '' && tools.length === 0 ? 'the model said nothing' : '';
        return { text: answer.text, error, tokens, tools };
      }
      const wishes = answer.wishes.slice(0, policy.toolCalls + 1);
      dialogue.push({ by: 'assistant', text: answer.text, wishes });
      for (const wish of wishes) {
        const result = this.#resultOf(question, wish, tools.length);
        tools.push({ name: wish.name, arguments: cutText(wish.arguments, toldArguments), result });
        dialogue.push({ by: 'tool', wish: wish.id, text: result });
      }
    }
  }

  #resultOf(question: Omit<ModelQuestion, 'dialogue'>, wish: ToolWish, number: number): string {
    const { ports, policy } = this.#input;
    if (number >= policy.toolCalls) return 'not done: too many tools for one answer';
    const call = ports.chatModels.toolCall(question, wish);
    return call.ok ? notRun : `not done: ${call.refusal.message}`;
  }

  /** Counts tokens. A failure is only logged, because an answer does not wait for storage. */
  async #spend(instance: InstanceId, tokens: number): Promise<void> {
    const { budget, cell, ports } = this.#input;
    const record = cell(instance)?.record;
    if (!record || tokens === 0) return;
    await budget.spend({ instanceId: instance, epoch: record.epoch }, tokens).catch((error: unknown) => {
      ports.log.warn({ instance, error }, 'chatbot.tokensNotCounted');
    });
  }
}
