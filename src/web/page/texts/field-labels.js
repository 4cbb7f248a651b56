/** The labels of the fields in the page. Refusals of the server name the fields as the API spells them. */

/** @typedef {keyof typeof import('./en.js').en} TextName */

/** The name of the label's text for each name of a field in the API. Names that are also plain English, such as `name`, need no label. */
const labels = /** @type {const} @satisfies {Readonly<Record<string, TextName>>} */ ({
  // Settings of a session
  msg_delay_min: 'paceLeast',
  msg_delay_max: 'paceMost',
  proxy_url: 'proxyUrl',
  proxy_fallback: 'proxyUseFallback',
  proxy_managed_country: 'proxyCountry',
  rotate_now: 'proxyRotate',
  excludeMessages: 'webhookExclude',
  addUrlEvents: 'webhookAddEvent',
  addUrlTypesMessages: 'webhookAddType',

  // Campaigns
  delayMin: 'campaignLeast',
  delayMax: 'campaignMost',
  scheduled_for: 'campaignAt',
  docName: 'campaignDocName',

  // Chatbot
  apikey: 'agentKey',
  baseUrl: 'agentBase',
  basePrompt: 'agentPrompt',
  maxTokens: 'agentTokens',
  maxMessageLength: 'agentLength',
  typingDelay_seconds: 'agentTyping',
  contextTimeWindow_hours: 'agentHours',
  contextMaxMessages: 'agentMost',
  contextMinMessages: 'agentLeast',
  handOver_minutes: 'agentHandOver',
  diversityLevel: 'agentDiversity',
  frequencyPenalty: 'agentFrequency',
  presencePenalty: 'agentPresence',
  wordsToStart: 'triggerWords',
  responseDelay_seconds: 'triggerDelay',
  agent_id: 'triggerAgent',
  quickReply_id: 'triggerReply',
  lead_field: 'triggerField',
  lead_operator: 'triggerOperator',
  lead_value: 'triggerValue',
  ai_apikey: 'chatbotKey',
  chatbot_stopConversation: 'chatbotStop',
  chatbot_stopMinutes: 'chatbotStopMinutes',
  chatbot_stopWhenYouSendMsg: 'chatbotOwnMinutes',

  // Chatwoot
  access_token: 'chatwootToken',
  account_id: 'chatwootAccount',
  inbox_id: 'chatwootInboxNumber',

  // Alerts
  'email.host': 'alertHost',
  'email.port': 'alertPort',
  'email.security': 'alertSecurity',
  'email.user': 'alertUser',
  'email.from': 'alertFrom',
  'email.to': 'alertTo',
  'telegram.url': 'alertApi',
  'telegram.chatId': 'alertChat',
  timeZone: 'alertZone',
  repeatHours: 'alertRepeat',
  receiverMinutes: 'alertReceiverMinutes',
  emailPassword: 'alertSecret_emailPassword',
  telegramToken: 'alertSecret_telegramToken',
  slackUrl: 'alertSecret_slackUrl',
  webhookUrl: 'alertSecret_webhookUrl',
  webhookSecret: 'alertSecret_webhookSecret',

  // People
  newPassword: 'ownNew',
});

const table = new Map(/** @type {[string, TextName][]} */ (Object.entries(labels)));

/**
 * Replaces each known field name in a sentence by its label in quotation marks.
 * @param {string} sentence
 * @param {(name: TextName) => string} textOf
 */
export const withLabels = (sentence, textOf) =>
  sentence.replaceAll(/(?<![\w./:-])(?:secrets\.)?([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)(?!\w|[/:]\S)/g, (whole, word) => {
    const label = table.get(word);
    return label === undefined ? whole : `“${textOf(label)}”`;
  });
