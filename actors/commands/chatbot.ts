/** Commands on the chatbot's agents and triggers. The commands need no session, because the platform does not know agents and triggers. */
import type { AgentEdit, AgentView, ChatbotMethods, TriggerEdit } from '../views.ts';
import { KeyedMutex } from '../waiting.ts';
import {
  done,
  isApiKey,
  refuse,
  type ChatbotAgent,
  type ChatbotTrigger,
  type InstanceId,
  type Kept,
  newAgent,
  newTrigger,
  type Result,
} from '../model.ts';
import type { AgentKey } from '../ports.ts';
import type { Recorded } from '../session/requests.ts';
import type { WithCells, WithPolicy, WithPorts } from './host.ts';
import { isWebAddress } from '../policy/content-rules.ts';

/** The parts of the supervisor that these commands need. */
type Host = WithCells & WithPorts<'chance' | 'chatModels' | 'chatbots' | 'definitions'> & WithPolicy<'chatbot' | 'definitionsPerInstance'>;

type AgentPorts = Host['ports'];

type ChatbotCommands = Pick<ChatbotMethods, 'agents' | 'editAgent' | 'triggers' | 'editTrigger' | 'chatbotUsage'>;

const noInstance = refuse('notFound', 'instance not found');

/** Removes the times of creation and of the last change. */
const plain = <T extends { readonly created: number; readonly updated: number }>({ created: _made, updated: _changed, ...rest }: T) => rest;

/** An agent with its key. `key` is undefined if the agent has no key. */
interface Held {
  readonly agent: Kept<'chatbotAgent'>;
  readonly key: AgentKey | undefined;
}

/** Returns the reason why the agent may not keep its key; null if it may. A stored key may be sent only to the origin for which it was given. */
const keyProblem = (
  agent: ChatbotAgent,
  edit: AgentEdit,
  old: Held | undefined,
  { chatModels }: Pick<AgentPorts, 'chatModels'>,
): string | null => {
  if (old?.key === undefined || edit.key !== undefined) return null;
  const isSame = chatModels.originOf(old.key.service ?? old.agent) === chatModels.originOf(agent);
  return isSame ? null : 'apikey is required for another provider or baseUrl';
};

const agentProblem = (agent: ChatbotAgent, hasKey: boolean, { chatModels }: Pick<AgentPorts, 'chatModels'>): string | null => {
  if (agent.name === '') return 'name is required';
  if (agent.model === '') return 'model is required';
  if (agent.provider === 'custom' && agent.baseUrl === '') return 'baseUrl is required for a custom provider';
  // A custom service may need no key.
  if (agent.provider !== 'custom' && !hasKey) return 'apikey is required';
  if (agent.memoryLeast > agent.memoryMost) return 'contextMinMessages must not be greater than contextMaxMessages';
  if (new Set(agent.media.map(({ name }) => name)).size < agent.media.length) return 'media must have names that differ';
  const file = agent.media.find((one) => !isWebAddress(one.file));
  if (file) return `file of the media ${file.name} must be an address that begins with http:// or https://`;
  if (/[?#]/.test(agent.baseUrl)) return 'baseUrl must have no query and no fragment';
  return chatModels.objection(agent);
};

const triggerProblem = async (trigger: ChatbotTrigger, id: InstanceId, { definitions }: AgentPorts): Promise<string | null> => {
  const [of, wanted] =
    trigger.type === 'agent' ? (['chatbotAgent', trigger.agentId] as const) : (['quickReply', trigger.quickReplyId] as const);
  const name = of === 'chatbotAgent' ? 'agent' : 'quick reply';
  if (wanted === '') return `${of === 'chatbotAgent' ? 'agent_id' : 'quickReply_id'} is required`;
  return (await definitions.all(id, of)).some((one) => one.id === wanted) ? null : `there is no ${name} ${wanted}`;
};

interface Definitions {
  readonly ports: AgentPorts;
  /** The largest number of agents of one instance, and also the largest number of its triggers. */
  readonly most: number;
}

const unknownAgent = refuse('notFound', 'Agent not found');
const unknownTrigger = refuse('notFound', 'Trigger not found');
const newId = ({ chance }: AgentPorts): string => `r${chance.hex(7)}`;

const heldAgents = async ({ definitions, chatbots }: AgentPorts, id: InstanceId): Promise<readonly Held[]> => {
  const [agents, keys] = await Promise.all([definitions.all(id, 'chatbotAgent'), chatbots.keys(id)]);
  return agents.map((agent) => ({ agent, key: keys.get(agent.id) }));
};

const viewOf = ({ agent, key }: Held): AgentView => ({ agent, hasKey: key !== undefined });

const removeAgent = async ({ definitions, chatbots }: AgentPorts, cell: Recorded, agent: Kept<'chatbotAgent'>): Promise<void> => {
  const { id, epoch } = cell.record;
  const led = (await definitions.all(id, 'chatbotTrigger')).filter(({ type, agentId }) => type === 'agent' && agentId === agent.id);
  // The agent is deleted last, so that a repeated call can complete an interrupted deletion.
  const gone = led.map((trigger) => ({ of: 'chatbotTrigger', value: plain(trigger) }) as const);
  for (const definition of gone) await cell.recorder.append({ kind: 'definitionGone', definition });
  await chatbots.saveKey({ instanceId: id, epoch }, agent, '');
  await cell.recorder.append({ kind: 'definitionGone', definition: { of: 'chatbotAgent', value: plain(agent) } });
};

const editAgent = async (
  { ports, most }: Definitions,
  cell: Recorded,
  edit: AgentEdit,
): Promise<Result<AgentView & { readonly made: boolean }>> => {
  const { id, epoch, aiApikey } = cell.record;
  const known = await heldAgents(ports, id);
  const old = known.find(({ agent }) => agent.id === edit.id);
  if (!old && (edit.id !== '' || edit.delete)) return unknownAgent;
  if (old && edit.delete) {
    await removeAgent(ports, cell, old.agent);
    return done({ ...viewOf(old), made: false });
  }
  if (!old && known.length >= most) return refuse('limited', `an instance has at most ${most} agents`);
  const agent: ChatbotAgent = { ...newAgent, ...(old && plain(old.agent)), ...edit.fields, id: old?.agent.id ?? newId(ports) };
  const hasKey = edit.key === undefined ? old?.key !== undefined : edit.key !== '';
  if (edit.key !== undefined && edit.key !== '' && !isApiKey(edit.key)) return refuse('invalid', 'apikey has characters that no key has');
  const hasShared = aiApikey !== '' && agent.baseUrl === '';
  const problem = agentProblem(agent, hasKey || hasShared, ports) ?? keyProblem(agent, edit, old, ports);
  if (problem !== null) return refuse('invalid', problem);
  if (edit.key !== undefined) await ports.chatbots.saveKey({ instanceId: id, epoch }, agent, edit.key);
  await cell.recorder.append({ kind: 'definition', definition: { of: 'chatbotAgent', value: agent } });
  const stored = (await ports.definitions.all(id, 'chatbotAgent')).find((one) => one.id === agent.id);
  return stored ? done({ agent: stored, hasKey, made: !old }) : unknownAgent;
};

type Triggered = { readonly trigger: Kept<'chatbotTrigger'>; readonly made: boolean };

const editTrigger = async ({ ports, most }: Definitions, cell: Recorded, edit: TriggerEdit): Promise<Result<Triggered>> => {
  const { id } = cell.record;
  const known = await ports.definitions.all(id, 'chatbotTrigger');
  const old = known.find((one) => one.id === edit.id);
  if (!old && (edit.id !== '' || edit.delete)) return unknownTrigger;
  if (old && edit.delete) {
    await cell.recorder.append({ kind: 'definitionGone', definition: { of: 'chatbotTrigger', value: plain(old) } });
    return done({ trigger: old, made: false });
  }
  if (!old && known.length >= most) return refuse('limited', `an instance has at most ${most} triggers`);
  const trigger: ChatbotTrigger = { ...newTrigger, ...(old && plain(old)), ...edit.fields, id: old?.id ?? newId(ports) };
  const problem = await triggerProblem(trigger, id, ports);
  if (problem !== null) return refuse('invalid', problem);
  await cell.recorder.append({ kind: 'definition', definition: { of: 'chatbotTrigger', value: trigger } });
  const stored = (await ports.definitions.all(id, 'chatbotTrigger')).find((one) => one.id === trigger.id);
  return stored ? done({ trigger: stored, made: !old }) : unknownTrigger;
};

/** Creates the commands. `changed` is called after each edit of an instance, even if the edit failed. */
export function chatbotCommands(host: Host, changed: (id: InstanceId) => void): ChatbotCommands {
  const { ports, policy } = host;
  const definitions = { ports, most: policy.definitionsPerInstance };
  // The edits of one instance run one after the other, because each depends on the stored definitions.
  const mutex = new KeyedMutex();

  const inTurn = <T>(id: InstanceId, edit: (cell: Recorded) => Promise<Result<T>>): Promise<Result<T>> =>
    mutex.run(id, async () => {
      const cell = host.cells.get(id);
      if (!cell) return noInstance;
      try {
        return await edit(cell);
      } finally {
        changed(id);
      }
    });

  return {
    agents: async (id) => (await heldAgents(ports, id)).map(viewOf),
    editAgent: (id, edit) => inTurn(id, (cell) => editAgent(definitions, cell, edit)),
    triggers: (id) => ports.definitions.all(id, 'chatbotTrigger'),
    editTrigger: (id, edit) => inTurn(id, (cell) => editTrigger(definitions, cell, edit)),
    chatbotUsage: async (id) => ({ limit: policy.chatbot.tokensPerDay, days: await ports.chatbots.usage(id) }),
  };
}
