/** The border vocabulary in one place: records of the gateway in, objects with the interface's spellings out. Pure functions. */
export {
  attendantField,
  chatFields,
  chatColumns,
  emptyChat,
  emptyValueOf,
  leadFields,
  type ChatField,
  type FieldType,
} from './chat-fields.ts';
export { agentView, aiMetadataView, givenKey, keyView, maskedKey, triggerTypeNames, triggerView } from './chatbot.ts';
export { channelCodeOf, channelIdOf, channelView } from './channel.ts';
export { campaignEventView, campaignRecipientView, folderView, optOutView } from './campaign.ts';
export { chatIdsOf, fastChatId, isWholeChatId } from './chat-id.ts';
export { avatarView, chatDetailsView } from './chat-details.ts';
export { chatwootView } from './chatwoot.ts';
export { chatLabelsView, chatStatsView, chatView, compactChatView, compactFields, contactView } from './chat.ts';
export { bookView, removedContactView, savedContactView } from './contact.ts';
export { leadTagView, quickReplyView, retagged } from './definitions.ts';
export { envelopeView } from './envelope.ts';
export { failedView, groupInfoView, inviteCodeOf, memberOutcomeView, timerOf } from './group-answers.ts';
export { catalogView, categoryView, collectionPageView, collectionView, productView, productWish, profileView } from './business.ts';
export { addModes, groupView, inviteLink, memberView, refusalView, type MemberRefusal } from './group.ts';
export { historyRequestView, historyStatusView } from './history-request.ts';
export { historyView } from './history.ts';
export { actorView, changesView, stepView } from './inspector.ts';
export { instanceView } from './instance.ts';
export { bareLabelId, fullLabelId, givenLabelId, keptLabelView, labelColors, labelView } from './label.ts';
export { capView, limitsEndpoint, limitsView, timeLockView } from './limits.ts';
export { eventMessageView, fullMessageId, messageEventView, messageView } from './message.ts';
export { callView, newsView } from './news.ts';
export { checkedNumberView } from './number-check.ts';
export { phoneOf } from './phone.ts';
export { changedPostView, durationText, postView } from './post.ts';
export { placeholderText } from './placeholders.ts';
export { citiesView, countriesView, proxyView } from './proxy.ts';
export { confirmations, deletedView, downloadedView, receiptsView, starredView, statusView } from './receipt.ts';
export { serverStatusView } from './server.ts';
export { timeText } from './time.ts';
export { deliveryErrorView, deliveryPageView, savedWebhooksView, webhookTestView, webhookView } from './webhook.ts';
export { contractPorts } from './ports.ts';
