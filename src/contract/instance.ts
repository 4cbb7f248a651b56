/** An instance as the interface spells it (specification 2.1). */
import type { InstanceView } from '#actors/views.ts';
import { keyView } from './chatbot.ts';
import { timeText } from './time.ts';

/** `now` becomes `currentTime`; `fieldsMap` appears only when it was set. Of the key for the chatbot only whether there is one. */
export const instanceView = ({ record, status, qrcode, paircode, presence }: InstanceView, now: number) => ({
  id: record.id,
  token: record.token,
  status,
  paircode,
  qrcode,
  name: record.name,
  profileName: record.profileName,
  profilePicUrl: record.profilePicUrl,
  isBusiness: record.isBusiness,
  plataform: record.platform.toLowerCase(),
  systemName: record.systemName,
  browser: record.browser,
  system: record.system,
  owner: record.owner,
  current_presence: presence,
  lastDisconnect: timeText(record.lastDisconnect),
  lastDisconnectReason: record.lastDisconnectReason,
  adminField01: record.adminField01,
  adminField02: record.adminField02,
  ai_apikey: keyView(record.aiApikey !== ''),
  chatbot_enabled: record.chatbotEnabled,
  chatbot_ignoreGroups: record.chatbotIgnoreGroups,
  chatbot_stopConversation: record.chatbotStopConversation,
  chatbot_stopMinutes: record.chatbotStopMinutes,
  chatbot_stopWhenYouSendMsg: record.chatbotStopWhenYouSendMsg,
  msg_delay_min: record.msgDelayMin,
  msg_delay_max: record.msgDelayMax,
  proxy_managed_country: record.proxy?.region.country ?? '',
  ...(record.fieldsMap === null ? {} : { fieldsMap: record.fieldsMap }),
  currentTime: timeText(now),
  created: timeText(record.created),
  updated: timeText(record.updated),
});
