/**
 * Divides the settings of an exported instance into two groups. Another Dormouse takes over the first group. The operator of that gateway has to set the second
 * group again.
 */
import type { InstanceRecord } from '../model.ts';
import type { LeavingSession } from '../ports.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { WithPorts } from './host.ts';

/** The parts of the supervisor that these functions need. */
export type SettingsHost = WithPorts<'definitions'> & { readonly dispatcher: Dispatcher };

type LeavingSettings = Pick<LeavingSession, 'token' | 'proxy' | 'webhooks' | 'settings' | 'lost'>;

const lostOfProxy = ({ proxy }: InstanceRecord): readonly string[] => [
  ...(proxy?.mode === 'internal' ? ['managed proxy: each server has its own, and POST /instance/proxy chooses one'] : []),
  ...(proxy?.fallback ? ['fallback of the proxy: it stays there, and POST /instance/proxy with `proxy_fallback` switches it on'] : []),
];

const hasChatbotSettings = (record: InstanceRecord): boolean =>
  record.chatbotEnabled ||
  record.chatbotIgnoreGroups ||
  record.chatbotStopConversation !== '' ||
  record.chatbotStopMinutes !== 0 ||
  record.chatbotStopWhenYouSendMsg !== 0;

/** Returns a sentence for each setting that the other server does not take over. The sentences contain no secrets. */
const lostOf = async ({ ports: { definitions }, dispatcher }: SettingsHost, record: InstanceRecord): Promise<readonly string[]> => {
  const { id, aiApikey, unreadable = '' } = record;
  const [agents, triggers] = [await definitions.all(id, 'chatbotAgent'), await definitions.all(id, 'chatbotTrigger')];
  const damaged = dispatcher.webhooks.receivers(id).filter((webhook) => webhook.unreadable !== undefined).length;
  return [
    ...lostOfProxy(record),
    ...(aiApikey === '' ? [] : ['ai_apikey: it stays there, and POST /instance/updatechatbotsettings sets it']),
    ...(hasChatbotSettings(record) ? ['chatbot: its settings stay there, and POST /instance/updatechatbotsettings sets them'] : []),
    ...(agents.length === 0 ? [] : [`agents of the chatbot (${agents.length}): they stay there, and POST /agent/edit makes them`]),
    ...(triggers.length === 0 ? [] : [`triggers of the chatbot (${triggers.length}): they stay there, and POST /trigger/edit makes them`]),
    ...(dispatcher.webhooks.chatwoot(id) === null ? [] : ['Chatwoot: its inbox stays there, and PUT /chatwoot/config connects one']),
    ...(damaged === 0 ? [] : [`webhooks (${damaged}): they cannot be decrypted there, and POST /webhook makes them`]),
    ...(unreadable === '' ? [] : [`${unreadable}: it cannot be decrypted there`]),
  ];
};

/** Returns the settings of an instance for its archive. A webhook that cannot be decrypted is left out, because it lacks its secret and headers. */
export const leavingSettings = async (host: SettingsHost, record: InstanceRecord): Promise<LeavingSettings> => {
  const { id, token, proxy, systemName, browser, system, adminField01, adminField02, fieldsMap, msgDelayMin, msgDelayMax } = record;
  const webhooks = host.dispatcher.webhooks
    .receivers(id)
    .filter((webhook) => webhook.unreadable === undefined)
    .map(({ id: _id, instanceId: _instance, managed: _managed, created: _created, chatwoot: _chatwoot, ...webhook }) => webhook);
  return {
    token,
    proxy: proxy?.mode === 'custom' ? proxy.url : '',
    webhooks,
    settings: { systemName, browser, system, adminField01, adminField02, fieldsMap, msgDelayMin, msgDelayMax },
    lost: await lostOf(host, record),
  };
};
