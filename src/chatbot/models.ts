/**
 * The services that agents ask, called through OpenAI's client of chat completions. The actors handle retries, deadlines and circuit breakers, so the client's
 * own ones are off. Answers are requested as a whole, because a message is sent as a whole. If a service only streams, its answer is streamed. The library is
 * loaded with the first question, because it needs 36 MB and 100 ms of processor time.
 */
import type OpenAI from 'openai';
import type { ChatCompletion, ChatCompletionCreateParamsNonStreaming, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { type Agent, fetch } from 'undici';
import { cutAtSentence, isApiKey, longestText, wholeSentences, type AiMetadata, type ChatbotAgent, type Result } from '#actors/model.ts';
import type { AgentService, ChatModels, ModelAnswer, ModelQuestion, ToolCall, ToolWish, ModelMessage } from '#actors/ports.ts';
import { type AddressGuard, createAgent, reasonOf } from '#src/webhooks/address-guard.ts';
import { completionIn } from './streamed.ts';
import { toolCallOf, toolsFor } from './tools.ts';

interface ChatModelOptions {
  readonly guard: AddressGuard;
  readonly userAgent: string;
  /** Time-out of one call, in milliseconds. */
  readonly timeoutMs: number;
  /** The largest number of concurrent calls to one service. */
  readonly connections: number;
}

/** Base addresses of the chat completions. `custom` has no address of its own. */
const addresses: Readonly<Record<ChatbotAgent['provider'], string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  gemini: 'https://generativelanguage.googleapis.com/v1beta/openai',
  deepseek: 'https://api.deepseek.com/v1',
  custom: '',
};

const addressOf = ({ provider, baseUrl }: Pick<ChatbotAgent, 'provider' | 'baseUrl'>): string => baseUrl || addresses[provider];

/**
 * The largest size of an answer. It has room for the longest text with each character escaped twice, and for tool calls. Parsing needs some 10 ms. In bytes.
 */
const largest = 1_048_576;

/** The largest number of tool calls that are read from one answer. Then the largest lengths of an id or a name, and of the arguments, in characters. */
const mostCalls = 101;
const longestId = 200;
const longestArguments = 16_384;

const callOf = ({ id, name, arguments: given }: ToolWish) => ({ id, type: 'function' as const, function: { name, arguments: given } });

const messageOf = (message: ModelMessage): ChatCompletionMessageParam => {
  if (message.by === 'user') return { role: 'user', content: message.text };
  if (message.by === 'tool') return { role: 'tool', tool_call_id: message.wish, content: message.text };
  const calls = message.wishes.map(callOf);
  return { role: 'assistant', content: message.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
};

/** Converts a percentage of the gateway's interface into the fraction that the protocol uses. */
const share = (percent: number): number => percent / 100;

/** Returns the options that are set, by their names in the interface and by their names in the protocol. */
const optionsOf = ({ model, temperature, diversity, frequencyPenalty, presencePenalty }: ChatbotAgent, maxTokens: number) => ({
  shown: {
    model,
    maxTokens,
    ...(temperature === null ? {} : { temperature: share(temperature) }),
    ...(diversity === null ? {} : { topP: share(diversity) }),
    ...(frequencyPenalty === null ? {} : { frequencyPenalty: share(frequencyPenalty) }),
    ...(presencePenalty === null ? {} : { presencePenalty: share(presencePenalty) }),
  },
  sent: {
    model,
    ...(temperature === null ? {} : { temperature: share(temperature) }),
    ...(diversity === null ? {} : { top_p: share(diversity) }),
    ...(frequencyPenalty === null ? {} : { frequency_penalty: share(frequencyPenalty) }),
    ...(presencePenalty === null ? {} : { presence_penalty: share(presencePenalty) }),
  },
});

interface Asked {
  readonly body: ChatCompletionCreateParamsNonStreaming;
  /** The request in the form that the metadata of the sent message contains. */
  readonly request: AiMetadata['request'];
}

const askedOf = (question: ModelQuestion): Asked => {
  const { agent, prompt, dialogue, maxTokens } = question;
  const messages: ChatCompletionMessageParam[] = [
    ...(prompt === '' ? [] : [{ role: 'system' as const, content: prompt }]),
    ...dialogue.map(messageOf),
  ];
  const tools = toolsFor(question);
  const { shown, sent } = optionsOf(agent, maxTokens);
  // OpenAI's own models refuse the older name of the field. Other services know only the older name.
  const most = agent.provider === 'openai' ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens };
  return { body: { ...sent, ...most, messages, ...(tools.length === 0 ? {} : { tools }) }, request: { messages, tools, options: shown } };
};

const failure = (error: string, cause: (ModelAnswer & { ok: false })['cause'], retryAfter?: number): ModelAnswer => ({
  ok: false,
  error,
  cause,
  ...(retryAfter === undefined || !Number.isFinite(retryAfter) ? {} : { retryAfter }),
});

/** Describes a refusal. The text of the service is left out, because it may repeat a part of the key. */
const refused = (status: number, retryAfter: number): ModelAnswer => {
  if (status === 401 || status === 403) return failure('the service does not take the key', 'setup');
  if (status === 404) return failure('the service knows no such model or address', 'setup');
  if (status === 429) return failure('the service is asked too often with this key, or its credit is used up', 'busy', retryAfter);
  if (status === 408 || status === 409 || status >= 500) return failure(`the service answered ${status}`, 'busy', retryAfter);
  return failure(`the service refused the question (${status})`, 'question');
};

const failureOf = (error: unknown): ModelAnswer => {
  const { status, headers, cause } = error as { status?: unknown; headers?: Headers; cause?: unknown };
  if (typeof status === 'number') return refused(status, Number(headers?.get('retry-after') ?? Number.NaN));
  // The library wraps the error of `fetch`, and `fetch` wraps the original error.
  const inner = cause instanceof TypeError && cause.cause !== undefined ? cause.cause : (cause ?? error);
  const reason = reasonOf(inner);
  const isTooLarge = (inner as { readonly code?: unknown } | null)?.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
  if (isTooLarge) return failure('the answer of the service is larger than 1 MiB', 'question');
  // A `SyntaxError` comes from an answer that is not JSON, and a `TypeError` from JSON that is not a completion.
  const isNonsense = reason === 'SyntaxError' || reason === 'TypeError';
  return failure(isNonsense ? 'the answer of the service makes no sense' : `the service cannot be reached: ${reason}`, 'busy');
};

type Clean = (text: string) => string;

/** The least length of a key that is masked. A shorter key may occur in ordinary texts by chance. In characters. */
const shortestKey = 8;

/**
 * Makes a function that cleans texts of a service before they are stored and shown. The function masks the key, and removes or replaces characters that
 * PostgreSQL cannot store.
 */
const cleanerFor = (key: string): Clean => {
  const hidden: Clean = key.length < shortestKey ? (text) => text : (text) => text.replaceAll(key, '********');
  return (text) => hidden(text.replaceAll('\0', '').toWellFormed());
};

/** Reads the tool calls of an answer. Some services send no ids, and some send the arguments as an object. The library does not check tool calls. */
const wishesOf = (calls: unknown, clean: Clean): readonly ToolWish[] =>
  Array.isArray(calls)
    ? calls
        .slice(0, mostCalls)
        .flatMap((call: { id?: unknown; function?: { name?: unknown; arguments?: unknown } } | null, at): readonly ToolWish[] => {
          const { name, arguments: given = '' } = call?.function ?? {};
          if (typeof name !== 'string') return [];
          const id = typeof call?.id === 'string' && call.id !== '' ? clean(call.id).slice(0, longestId) : `call_${at}`;
          const written = clean(typeof given === 'string' ? given : JSON.stringify(given));
          // Truncated JSON is invalid, and is therefore refused.
          return [{ id, name: clean(name).slice(0, longestId), arguments: written.slice(0, longestArguments) }];
        })
    : [];

/** Returns the text of a content, which is a string or a list of parts. */
const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { readonly text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : '')).join('');
};

/** Estimates the tokens by the usual length of a token, for services that do not report a count. */
const estimated = (body: unknown, text: string): number => Math.ceil((JSON.stringify(body).length + text.length) / 4);

/** A reported count of tokens above this bound is ignored. */
const mostTokens = 1e9;

/** Returns the text of an answer. If the service cut the text (`length`), the incomplete last sentence is left out. */
const wordsOf = (choice: { readonly message?: unknown; readonly finish_reason?: unknown } | null, clean: Clean): string => {
  const text = cutAtSentence(clean(textOf((choice?.message as { readonly content?: unknown } | null)?.content)), longestText);
  return choice?.finish_reason === 'length' ? wholeSentences(text) : text;
};

/** Returns the fields of an answer that the metadata of a message shows: only fields of the protocol, and no additional fields of the service. */
const choiceOf =
  (clean: Clean) =>
  (choice: unknown): unknown => {
    const { index, finish_reason: reason, message } = (choice ?? {}) as Record<string, unknown>;
    const { role, tool_calls: calls } = (message ?? {}) as Record<string, unknown>;
    const wishes = wishesOf(calls, clean);
    return {
      ...(Number.isSafeInteger(index) ? { index } : {}),
      message: {
        ...(typeof role === 'string' ? { role: clean(role).slice(0, longestId) } : {}),
        content: wordsOf(choice as object | null, clean),
        ...(wishes.length === 0 ? {} : { tool_calls: wishes.map(callOf) }),
      },
      ...(typeof reason === 'string' ? { finish_reason: clean(reason).slice(0, longestId) } : {}),
    };
  };

const answerOf = (completion: ChatCompletion, { body, request }: Asked, key: string): ModelAnswer => {
  const message = completion.choices?.[0]?.message;
  if (!message) return failure('the service gave no answer', 'busy');
  const clean = cleanerFor(key);
  const text = wordsOf(completion.choices[0] ?? null, clean);
  const told = completion.usage?.total_tokens;
  const tokens = typeof told === 'number' && told > 0 && told <= mostTokens ? Math.ceil(told) : estimated(body, text);
  // One answer was requested, so further choices are ignored.
  const choices = completion.choices.slice(0, 1).map(choiceOf(clean));
  return { ok: true, text, wishes: wishesOf(message.tool_calls, clean), tokens, request, choices };
};

/** Headers that are sent to a service. Without this list the library would add the headers of OPENAI_CUSTOM_HEADERS for every service. */
const sentHeaders = ['accept', 'authorization', 'content-type', 'user-agent'];

const onlySent = (headers: RequestInit['headers']): [string, string][] =>
  [...new Headers(headers).entries()].filter(([name]) => sentHeaders.includes(name));

/** Makes a client. All of its options are set, because the library reads missing options from the environment. */
const clientOf = (Client: typeof OpenAI, { agent, key }: ModelQuestion, userAgent: string, dispatcher: Agent): OpenAI =>
  new Client({
    apiKey: key === '' ? 'none' : key,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: addressOf(agent),
    maxRetries: 0,
    logLevel: 'off',
    defaultHeaders: { 'user-agent': userAgent, ...(key === '' ? { authorization: null } : {}) },
    // Refuses redirects, because a redirect would carry the key to another host.
    fetch: ((url: string, init: RequestInit) =>
      fetch(url, {
        ...(init as object),
        headers: onlySent(init.headers),
        dispatcher,
        redirect: 'error',
      })) as unknown as typeof globalThis.fetch,
  });

/** The largest number of remembered services that answer only with `stream: true`. */
const mostStreaming = 1_000;

/** Returns true if the service refused the question because it only streams answers. The text of the refusal is not stored. */
const wantsStream = (error: unknown): boolean => {
  const { status, message } = error as { readonly status?: unknown; readonly message?: unknown };
  return (status === 400 || status === 422) && typeof message === 'string' && /\bstream(?:ing|ed)?\b/i.test(message);
};

/** Requests a whole answer. `streaming` remembers the services that only stream, by address and model. */
const completionOf = async (
  client: OpenAI,
  { body }: Asked,
  streaming: Set<string>,
  options: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<ChatCompletion> => {
  const name = `${client.baseURL} ${body.model}`;
  const streamed = async (): Promise<ChatCompletion> =>
    completionIn(await (await client.chat.completions.create({ ...body, stream: true }, options).asResponse()).text());
  if (streaming.has(name)) return streamed();
  try {
    const answer: unknown = await client.chat.completions.create(body, options);
    // If the answer is not JSON, the library returns its text.
    return typeof answer === 'string' && /^\s*(?:data|event|id|:)/.test(answer) ? completionIn(answer) : (answer as ChatCompletion);
  } catch (error) {
    if (!wantsStream(error)) throw error;
    const completion = await streamed();
    if (streaming.size >= mostStreaming) streaming.clear();
    streaming.add(name);
    return completion;
  }
};

export class OpenAiModels implements ChatModels {
  readonly #options: ChatModelOptions;
  readonly #streaming = new Set<string>();
  #dispatcher: Agent | null = null;

  constructor(options: ChatModelOptions) {
    this.#options = options;
  }

  objection(agent: AgentService): string | null {
    const objection = this.#options.guard.checkUrl(addressOf(agent));
    return objection === null ? null : `baseUrl cannot be used: ${objection}`;
  }

  originOf(agent: AgentService): string {
    return URL.parse(addressOf(agent))?.origin ?? '';
  }

  async ask(question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer> {
    const { guard, userAgent, timeoutMs, connections } = this.#options;
    const objection = guard.checkUrl(addressOf(question.agent));
    if (objection !== null) return failure(`the service cannot be used: ${objection}`, 'setup');
    if (question.key !== '' && !isApiKey(question.key)) return failure('the key is no key', 'setup');
    try {
      const { default: Client } = await import('openai');
      this.#dispatcher ??= createAgent(guard, timeoutMs, connections, largest);
      const asked = askedOf(question);
      const client = clientOf(Client, question, userAgent, this.#dispatcher);
      return answerOf(await completionOf(client, asked, this.#streaming, { signal, timeout: timeoutMs }), asked, question.key);
    } catch (error) {
      return failureOf(error);
    }
  }

  toolCall(question: Pick<ModelQuestion, 'agent' | 'labels'>, wish: ToolWish): Result<ToolCall> {
    return toolCallOf(question, wish);
  }

  async close(): Promise<void> {
    await this.#dispatcher?.destroy();
  }
}
