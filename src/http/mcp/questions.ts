/**
 * Asks the users of clients to confirm calls. A question shows all arguments of its call. Each open question keeps a call in memory, so the number of open
 * questions is limited.
 */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { InstanceId } from '#actors/gateway.ts';
import type { Tool } from './tools.ts';

// Shows the arguments of a tool call to the person who confirms it. Every value is shown, and a long value is shortened. If the values do not fit into a
// question, the call is refused.

type Json = Readonly<Record<string, unknown>>;

/** The part of JSON Schema that gives the order of fields. */
interface Shape {
  readonly properties?: Readonly<Record<string, object>>;
  readonly items?: object;
}

/** Largest length of one value in a question, in characters. A longer value is shortened, so that it cannot hide other values. */
const shownOfValue = 300;
/** Largest length of a whole question, in characters. A person does not read more. */
const room = 8_000;
/** The largest number of nested levels of objects and lists. Operations of the interface have fewer levels. */
const deepest = 6;

/** Control characters, format characters such as marks of text direction, and separators of lines. They could make a value look like another value. */
const hidden = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;

/**
 * The scheme of an address, such as `https://` or `socks5://`. The end of an address decides its target, so addresses are not shortened.
 */
const address = /^\s*[a-z][a-z\d+.-]*:\/\//i;

const cut = (text: string): string => `${text.slice(0, shownOfValue)}… (${text.length - shownOfValue} more characters)`;

const textOf = (value: unknown): string => {
  const text = JSON.stringify(value).replaceAll(hidden, escaped);
  return text.length <= shownOfValue || (typeof value === 'string' && address.test(value)) ? text : cut(text);
};

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns the parts of a value with their schemas, in the order of the schema. Fields that the schema does not have come last. */
const partsOf = (path: string, value: object, { properties = {}, items = {} }: Shape): readonly (readonly [string, unknown, Shape])[] => {
  if (Array.isArray(value)) return value.map((item, index) => [`${path}[${index}]`, item, items] as const);
  const given = value as Json;
  const known = Object.keys(properties).filter((name) => Object.hasOwn(given, name));
  const others = Object.keys(given).filter((name) => !Object.hasOwn(properties, name));
  const within = (name: string): string => (path === '' ? name : `${path}.${name}`);
  return [
    ...known.map((name) => [within(name), given[name], properties[name] as Shape] as const),
    ...others.map((name) => [within(name.replaceAll(hidden, escaped)), given[name], {}] as const),
  ];
};

/** Returns one line for each value; null if the lines do not fit into a question. */
const shownArguments = (input: Json, shape: Shape): string | null => {
  const lines: string[] = [];
  let left = room;
  const show = (path: string, value: unknown, schema: Shape, depth: number): void => {
    if (left < 0) return;
    const parts = isNested(value) ? partsOf(path, value, schema) : [];
    const isList = Array.isArray(value) && !value.some(isNested);
    if (parts.length > 0 && !isList) {
      if (depth === deepest) left = -1;
      else for (const part of parts) show(...part, depth + 1);
      return;
    }
    if (path === '') return;
    const line = `${path}: ${textOf(value)}`;
    left -= line.length + 1;
    lines.push(line);
  };
  show('', input, shape, 0);
  return left < 0 ? null : lines.join('\n');
};

// Asks the users of clients to confirm calls. Each open question keeps a call in memory, so the number and the size of open questions are limited.

/** Largest numbers of open questions of one session and of one instance. A person answers the questions of a session one by one. */
const perSession = 5;
const perInstance = 20;
/** Largest number of open questions of all instances. */
const inAll = 200;
/**
 * Largest length of a message whose call waits for a confirmation, in characters. All open questions together need at most 13 MB. Parsed JSON needs several
 * times as much memory.
 */
const longestMessage = 65_536;
/** The time in which a person has to confirm a call. In milliseconds. */
const confirmMs = 300_000;

/** The schema of the answer. All questions share one object, so the library compiles it once. */
const form = {
  type: 'object' as const,
  properties: { confirm: { type: 'boolean' as const, title: 'Do this', description: 'Without the confirmation nothing is done' } },
  required: ['confirm'],
};

const count = <Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void => {
  const next = (counts.get(key) ?? 0) + change;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
};

/** Counts open questions. */
export class Questions {
  readonly #ofSessions = new Map<object, number>();
  readonly #ofInstances = new Map<InstanceId, number>();
  #all = 0;

  /** Returns the function that ends the question, or the reason why no further question may be open. */
  open(instance: InstanceId, session: object): (() => void) | string {
    if ((this.#ofSessions.get(session) ?? 0) >= perSession) return `the session has ${perSession} open questions`;
    if ((this.#ofInstances.get(instance) ?? 0) >= perInstance) return `the instance has ${perInstance} open questions`;
    if (this.#all >= inAll) return `the gateway has ${inAll} open questions`;
    const change = (by: 1 | -1): void => {
      count(this.#ofSessions, session, by);
      count(this.#ofInstances, instance, by);
      this.#all += by;
    };
    change(1);
    return () => change(-1);
  }
}

/** The tool call that the user is asked to confirm. */
interface AskingCall {
  readonly tool: Tool;
  readonly input: Readonly<Record<string, unknown>>;
  readonly instance: InstanceId;
  /** The length of the whole message as JSON, in characters. */
  readonly length: number;
  readonly relatedRequestId: string | number;
  /** Aborts when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
}

const isConfirmed = async (server: Server, message: string, { relatedRequestId, signal }: AskingCall): Promise<boolean> => {
  const options = { relatedRequestId, signal, timeout: confirmMs };
  const { action, content } = await server.elicitInput({ message, requestedSchema: form }, options);
  return action === 'accept' && content?.['confirm'] === true;
};

/** Asks the user of the client. Returns null if the user confirms the call, and otherwise the reason why it is not executed. */
export const objectionOf = async (server: Server, questions: Questions, call: AskingCall): Promise<string | null> => {
  const { listing, address } = call.tool;
  const instead = `so nothing was done. A person can call ${address} instead.`;
  if (server.getClientCapabilities()?.elicitation?.form === undefined) {
    return `${listing.name} needs the confirmation of a person, and this client cannot ask for one (it does not support elicitation), ${instead}`;
  }
  const shown = call.length > longestMessage ? null : shownArguments(call.input, listing.inputSchema);
  if (shown === null) return `The arguments of ${listing.name} are too long to be shown to a person, ${instead}`;
  const close = questions.open(call.instance, server);
  if (typeof close === 'string')
    return `${listing.name} needs the confirmation of a person, and ${close}, so nothing was done. Try again later.`;
  try {
    const isDone = await isConfirmed(server, `${listing.description}\n${shown}`, call);
    return isDone ? null : `The user did not confirm ${listing.name}, so nothing was done.`;
  } catch {
    return `No confirmation of ${listing.name} came within five minutes, so nothing was done.`;
  } finally {
    close();
  }
};
