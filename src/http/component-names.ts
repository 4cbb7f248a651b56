/** Names for components of the OpenAPI document: a table of names, and rules for the other components. */
import { errorStatuses } from './error-docs.ts';

/** Names of components. The key is the first place of the shape in the document, in words. */
export const namesByPlace: Readonly<Record<string, string>> = {
  'Channel thread_metadata name': 'ChannelText',
  'Channel thread_metadata picture': 'ChannelPicture',
  'createInstance answer': 'InstanceCreated',
  'updateAdminFields answer': 'InstanceChanged',
  'restartServer answer': 'RestartBegun',
  'getAdminSession answer': 'AdminSession',
  'connectInstance answer jid': 'SessionJid',
  'connectInstance body': 'EmptyBody',
  'PasskeyNotice code': 'PasskeyCode',
  'beginAdminSession answer': 'AdminSessionBegun',
  'createUser answer': 'UserShown',
  'offerOwnCode body': 'OwnPasswordBody',
  'getAlerts answer': 'Alerts',
  'getAlerts answer settings channels item': 'AlertChannel',
  'getStorage answer messages': 'MessageStorage',
  'resetInstance 404': 'ResetError',
  'setPresence answer': 'Response',
  'getPasskey answer': 'PasskeyStage',
  'PasskeyStep options': 'PasskeyOptions',
  'answerPasskey body': 'PasskeyAnswer',
  'followPasskey answer': 'PasskeyProgress',
  'setProfilePicture body image': 'PictureSource',
  'getPrivacy answer': 'Privacy',
  'getInstanceProxy answer': 'Proxy',
  'retryRefusedEntry instance': 'InstancePath',
  'retryRefusedEntry id': 'EntryPath',
  'retryRefusedEntry answer': 'EntryRetried',
  'rotateAdminToken 429': 'RotatedTooEarly',
  'sendSimpleCampaign idempotency-key': 'CampaignIdempotencyKey',
  'sendSimpleCampaign answer': 'CampaignCreated',
  'listCampaignMessages answer pagination': 'Page',
  'listReceipts body id': 'MessageRef',
  'listReceipts body': 'MessageRef',
  'listReceipts answer receipts item deliveredAt': 'ReceiptTime',
  'clearQueue answer stats': 'ClearedStats',
  'reactToMessage answer': 'MessageChanged',
  'requestHistory body': 'NumberBody',
  'countChats answer': 'ChatCounts',
  'ChatCounts total_chats': 'ChatTally',
  'findChats body wa_fastid': 'ChatFilter',
  'findChats body wa_archived': 'ChatFlagFilter',
  'findChats answer pagination': 'Pagination',
  'markChatRead body number': 'ChatRef',
  'markChatRead answer': 'ChatChanged',
  'showChatNote answer': 'ChatNote',
  'allContacts answer': 'Contacts',
  'createGroup body participants item': 'PersonRef',
  'getGroup body groupjid': 'GroupJid',
  'getGroup body': 'GroupBody',
  'getGroup answer': 'GroupShown',
  'previewGroup body': 'InviteCodeBody',
  'joinGroup answer': 'GroupChanged',
  'leaveGroup body': 'GroupBody',
  'findGroups answer': 'Groups',
  'renewGroupLink answer': 'GroupLink',
  'getBusinessProfile body': 'BusinessBody',
  'getBusinessProfile answer response categories': 'BusinessCategories',
  'changeBusinessProfile answer': 'BusinessProfileChanged',
  'BusinessProfileChanged response': 'OutcomeByField',
  'listProducts body jid': 'BusinessRef',
  'getProduct body id': 'ProductId',
  'getProduct answer': 'ProductShown',
  'getProduct answer response': 'Product',
  'saveProduct body compliance_info importer_address street1': 'AddressLine',
  'saveProduct body width': 'ImageSide',
  'showProduct body': 'ProductBody',
  'listCollections answer response collections item': 'Collection',
  'createCollection body name': 'CollectionName',
  'createCollection answer': 'CollectionShown',
  'changeCollection id': 'CollectionPath',
  'listPosts body': 'ChannelBody',
  'listPosts answer': 'Posts',
  'editPost answer': 'PostChanged',
  'viewPosts answer': 'Done',
  'followPostUpdates body': 'ChannelBody',
  'createChannel body name': 'ChannelName',
  'createChannel answer': 'ChannelShown',
  'inviteChannelAdmin body': 'ChannelAdminBody',
  'inviteChannelAdmin body phone': 'PersonPhone',
  'editLead body lead_name': 'LeadText',
  'editLead body lead_kanbanOrder': 'KanbanOrder',
  'nameLeadFields body lead_field01': 'LeadFieldName',
  'getChatDetails body number': 'PersonOrGroupRef',
  'labelChat body labelids item': 'LabelRef',
  'listWebhooks answer': 'Webhooks',
  'listWebhookErrors answer': 'WebhookErrors',
  'getGlobalWebhook answer': 'GlobalWebhook',
  'listWebhookDeliveries webhook': 'WebhookQuery',
  'listWebhookDeliveries state': 'DeliveryStateQuery',
  'listWebhookDeliveries limit': 'DeliveryLimitQuery',
  'listWebhookDeliveries offset': 'DeliveryOffsetQuery',
  'listWebhookDeliveries answer': 'Deliveries',
  'getWebhookDelivery answer': 'DeliveryShown',
  'replayWebhookDeliveries body': 'ReplayBody',
  'replayWebhookDeliveries answer': 'Replayed',
  'testWebhook body': 'WebhookTest',
  'testWebhook answer': 'WebhookTested',
  'streamEvents events': 'EventNames',
  'getActor id': 'InstanceIdPath',
  'getActor answer': 'Actor',
  'getHealth answer': 'Health',
  'onMessages answer': 'EventTaken',
  'ChatLabelsEvent part2 chat': 'ChatLabels',
  'ConnectionEvent part2 instance passkey': 'PasskeyNotice',
  'createInstance body part1 adminField01': 'AdminField',
  'signIn body code': 'OneTimeCode',
  'listUsers answer users item': 'User',
  'sendText body part1 number': 'Recipient',
  'sendText answer': 'MessageSent',
  'MessageSent part2 warning': 'SendWarning',
  'sendSimpleCampaign body part2 numbers item': 'CampaignRecipient',
  'PostSearch jid': 'ChannelRef',
  'PostSearch id': 'ChannelRefOlder',
};

/** Field names that are ambiguous without the name of their object. */
const vague: ReadonlySet<string> = new Set(
  'id name type status state number jid response item value error code url at from to force limit offset action part1 part2 data info reason kind count version'.split(
    ' ',
  ),
);

const pascal = (words: string): string =>
  words
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');

/** Returns possible names for a place such as `sendText body number`, the preferred name first. */
export const placeNames = (place: string): readonly string[] => {
  const given = namesByPlace[place];
  if (given !== undefined) return [given];
  const words = place.split(' ');
  const last = words.at(-1) ?? '';
  const ofStatus = errorStatuses[Number(last)]?.[0];
  if (ofStatus !== undefined) return [ofStatus, pascal(place)];
  const plain = words.length > 1 && !vague.has(last) && last !== 'body' && last !== 'answer' ? [pascal(last)] : [];
  return [...plain, pascal(words.filter((word) => word !== 'item' || word === last).join(' '))];
};

/** Names of the default answers. The first text of a pair occurs in the description of the answer. */
const usualErrors = [
  ['the platform:', 'PlatformErrors'],
  ['of sends:', 'SendErrors'],
  ['about groups:', 'GroupErrors'],
  ['about channels:', 'ChannelErrors'],
  ['the administrator:', 'AdminErrors'],
  ['without a token:', 'OpenErrors'],
] as const;

/**
 * Returns possible names for an error of a place such as `sendText 404`, the preferred name first. An error with additional fields has the operation in its
 * name.
 */
export const errorNames = (place: string, answer: Readonly<Record<string, unknown>>): readonly string[] => {
  const given = namesByPlace[place];
  if (given !== undefined) return [given];
  const [operation = '', status = ''] = place.split(' ');
  const isPlatform = JSON.stringify(answer).includes('/PlatformError"');
  if (status === 'default') {
    const description = String(answer['description']);
    return [usualErrors.find(([words]) => description.includes(words))?.[1] ?? 'UsualErrors'];
  }
  const name = errorStatuses[Number(status)]?.[0] ?? `Status${status}`;
  const own = pascal(operation) + name;
  if (JSON.stringify(answer).includes('"properties"') || JSON.stringify(answer).includes('"allOf"')) return [own];
  return isPlatform ? [`Platform${name}`, own] : [name, own];
};

/** Returns the first free name. If all are taken, adds a number to the last name. */
export const freeName = (names: readonly string[], isTaken: (name: string) => boolean): string => {
  const free = names.find((name) => !isTaken(name));
  if (free !== undefined) return free;
  const last = names.at(-1) ?? 'Shape';
  for (let n = 2; ; n += 1) if (!isTaken(`${last}${n}`)) return `${last}${n}`;
};
