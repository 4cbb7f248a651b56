/** Asks the users of clients to confirm calls. Each open question keeps a call in memory, so their number and size are bounded. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { InstanceId } from '#actors/gateway.ts';
import { shownArguments } from './arguments.ts';
import type { Tool } from './tools.ts';

/** Open questions of one session. A person answers them one by one. */
const perSession = 5;
const perInstance = 20;
/** Open questions of all instances. */
const inAll = 200;
/** Characters of a message whose call waits for a confirmation: 13 MB for all open questions. Parsed JSON takes several times as much. */
const longestMessage = 65_536;
/** Milliseconds that a person has to confirm a call. */
const confirmMs = 300_000;

/** One object for all questions, so that the library compiles it once. */
const form = {
  type: 'object' as const,
  properties: { confirm: { type: 'boolean' as const, title: 'Do this', description: 'Without the confirmation nothing is done' } },
  required: ['confirm'],
};

/** Counts open questions. */
export interface Questions {
  /** Returns the function that ends the question, or the reason why no further question may be open. */
  open(instance: InstanceId, session: object): (() => void) | string;
}

export const createQuestions = (): Questions => {
  const [ofSessions, ofInstances] = [new Map<object, number>(), new Map<InstanceId, number>()];
  let all = 0;
  const count = <Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void => {
    const next = (counts.get(key) ?? 0) + change;
    if (next === 0) counts.delete(key);
    else counts.set(key, next);
  };
  return {
    open(instance, session) {
      if ((ofSessions.get(session) ?? 0) >= perSession) return `the session has ${perSession} open questions`;
      if ((ofInstances.get(instance) ?? 0) >= perInstance) return `the instance has ${perInstance} open questions`;
      if (all >= inAll) return `the gateway has ${inAll} open questions`;
      const change = (by: 1 | -1): void => {
        count(ofSessions, session, by);
        count(ofInstances, instance, by);
        all += by;
      };
      change(1);
      return () => change(-1);
    },
  };
};

/** The call of a tool that asks. */
export interface AskingCall {
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
