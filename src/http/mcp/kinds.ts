/**
 * The table of tools: operations of an instance that may be offered to a model. The setting MCP_TOOLS enables groups of tools.
 */
import type { McpGroup } from '../options.ts';

export interface ToolKind {
  readonly group: McpGroup;
  /** True if the user is asked before each call. */
  readonly asks: boolean;
  /** The hints of the protocol. `destructiveHint`: the tool overwrites or removes data. `idempotentHint`: a repeated call has no further effect. */
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean; readonly idempotentHint: boolean };
}

const kind = (group: McpGroup, hints: readonly ('reads' | 'destroys' | 'repeats' | 'asks')[]): ToolKind => ({
  group,
  asks: hints.includes('asks'),
  annotations: {
    readOnlyHint: hints.includes('reads'),
    destructiveHint: hints.includes('destroys'),
    idempotentHint: hints.includes('repeats'),
  },
});

/** The kinds of tools. Each row has the operationIds of its operations. */
const table: readonly (readonly [kind: ToolKind, operations: string])[] = [
  [
    kind('reading', ['reads', 'repeats']),
    `getInstanceStatus getMessageLimits getPrivacy getInstanceProxy listCampaigns listCampaignMessages getCampaignStats listOptOuts findMessages
    listReceipts getQueue showHistory downloadMessage countChats findChats showChatNote listBlocked allContacts listContacts getGroup previewGroup
    findGroups listGroups getGroupLink getBusinessProfile listBusinessCategories listProducts getProduct listCollections listPosts listPostUpdates
    listChannels getChannel previewChannel findChannels listLeadTags checkNumbers getChatDetails getAvatar listLabels listQuickReplies listAgents getAgentUsage
    listTriggers listWebhooks listWebhookErrors listWebhookDeliveries getWebhookDelivery getChatwoot`,
  ],
  [
    kind('sending', []),
    `sendText sendMedia sendContact sendLocation sendGroupInvite sendEvent sendMenu sendCarousel sendLocationButton sendRequestPayment sendPixButton
    sendStatus showTyping inviteChannelAdmin`,
  ],
  // Operations that replace messages which people have read.
  [kind('sending', ['destroys', 'repeats']), 'editMessage editPost reactToMessage reactToPost'],
  // Operations that write to many people at once.
  [kind('sending', ['asks']), 'sendSimpleCampaign sendAdvancedCampaign'],
  [
    kind('changing', []),
    'createGroup createCommunity createCollection createChannel testWebhook replayWebhookDeliveries requestHistory tryAgent testChatwoot',
  ],
  [
    kind('changing', ['repeats']),
    `joinGroup followChannel followPostUpdates viewPosts markMessagesRead markChatRead reloadChatNotes reloadLabels acceptChannelAdmin showProduct
    unmuteChannel`,
  ],
  [
    kind('changing', ['destroys', 'repeats']),
    `hibernateInstance setPresence renameInstance updateDelaySettings renameProfile setProfilePicture changePrivacy pinMessage starMessage archiveChat
    pinChat muteChat editChatNote setChatTimer saveContact renameGroup describeGroup setGroupAnnounce setGroupLocked setGroupApproval setGroupAddMode
    setGroupTimer setGroupPicture editCommunityGroups changeBusinessProfile saveProduct hideProduct changeCollection muteChannel renameChannel
    describeChannel setChannelReactions setChannelPicture editLead nameLeadFields labelChat updateChatbotSettings rejectCall`,
  ],
  // Operations that delete, leave, log out, block, withdraw rights, or send events and messages to another service.
  [
    kind('changing', ['destroys', 'repeats', 'asks']),
    `connectInstance disconnectInstance deleteInstance setInstanceProxy removeInstanceProxy editCampaign clearDoneCampaigns clearAllCampaigns clearQueue
    deleteMessage removeChat blockContact changeOptOuts removeContact leaveGroup changeGroupMembers deleteProduct deleteCollection deletePost unfollowChannel
    deleteChannel removeChannelAdmin revokeChannelAdmin transferChannel editLeadTag editLabel editQuickReply editAgent editTrigger saveWebhook
    saveChatwoot`,
  ],
  [kind('changing', ['destroys', 'asks']), 'resetInstance renewGroupLink'],
];

const namesIn = (words: string): readonly string[] => words.trim().split(/\s+/);

/** The kind of each operation that may be a tool, by its operationId. */
export const toolKinds: ReadonlyMap<string, ToolKind> = new Map(
  table.flatMap(([toolKind, operations]) => namesIn(operations).map((name) => [name, toolKind] as const)),
);

/** Operations of an instance that are not tools: they return secrets, need the owner's browser or phone, or are not supported. */
export const noTools: ReadonlySet<string> = new Set(
  namesIn(`getInstanceToken rotateInstanceToken linkPasskey getPasskey answerPasskey cancelPasskey confirmPasskey scanWithSimulatedPhone makeCall
    setPaymentStatus`),
);
