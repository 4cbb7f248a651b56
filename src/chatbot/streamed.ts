/** Joins the chunks of a streamed answer into a whole answer. Some services stream although the request did not ask for it, and some can only stream. */
import type { ChatCompletion } from 'openai/resources/chat/completions';

interface CallPart {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown };
}

interface Part {
  readonly role?: unknown;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: Part; readonly message?: Part; readonly finish_reason?: unknown }[];
  readonly usage?: ChatCompletion['usage'] | null;
}

interface Call {
  id: string;
  name: string;
  arguments: string;
}

const said = (value: unknown): string => (typeof value === 'string' ? value : '');

const addCalls = (calls: Map<number, Call>, parts: unknown): void => {
  if (!Array.isArray(parts)) return;
  for (const [at, part] of (parts as readonly (CallPart | null)[]).entries()) {
    const index = typeof part?.index === 'number' ? part.index : at;
    const call = calls.get(index) ?? { id: '', name: '', arguments: '' };
    call.id ||= said(part?.id);
    call.name += said(part?.function?.name);
    call.arguments += said(part?.function?.arguments);
    calls.set(index, call);
  }
};

/** Returns the data of server-sent events, without the end mark. Throws `SyntaxError` for data that is not JSON. */
const chunksIn = (text: string): readonly (Chunk | null)[] =>
  text.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = event
      .split(/\r?\n/)
      .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
      .join('\n');
    return data === '' || data === '[DONE]' ? [] : [JSON.parse(data) as Chunk | null];
  });

/** Returns the completion in a body of server-sent events. Throws if the body has none. */
export const completionIn = (text: string): ChatCompletion => {
  const calls = new Map<number, Call>();
  let [content, role, reason, found] = ['', 'assistant', '', false];
  let usage: Chunk['usage'] = null;
  for (const chunk of chunksIn(text)) {
    usage = chunk?.usage ?? usage;
    const choice = chunk?.choices?.[0];
    const part = choice?.delta ?? choice?.message;
    if (!choice || !part) continue;
    found = true;
    content += said(part.content);
    role = said(part.role) || role;
    reason = said(choice.finish_reason) || reason;
    addCalls(calls, part.tool_calls);
  }
  const wishes = [...calls.values()].map(({ id, ...call }) => ({ id, type: 'function', function: call }));
  const message = { role, content, ...(wishes.length === 0 ? {} : { tool_calls: wishes }) };
  const choices = found ? [{ index: 0, message, ...(reason === '' ? {} : { finish_reason: reason }) }] : [];
  return { choices, ...(usage ? { usage } : {}) } as unknown as ChatCompletion;
};
