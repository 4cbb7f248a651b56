/** Collects the views of the interface: pure functions that turn records of the gateway into objects with the names of the interface. */
export {
  attendantField,
  leadNotesField,
  chatFields,
  chatColumns,
  emptyChat,
  emptyValueOf,
  leadFields,
  type ChatField,
  type FieldType,
  type LeadWish,
} from './chat-fields.ts';
export {
  agentBody,
  agentChange,
  agentFields,
  agentView,
  aiMetadataView,
  givenKey,
  keyNote,
  keyView,
  maskedKey,
  triggerBody,
  triggerChange,
  triggerFields,
  triggerView,
} from './chatbot.ts';
export {
  businessProfileFields,
  catalogFields,
  catalogView,
  categoryFields,
  categoryView,
  collectionFields,
  collectionPageFields,
  collectionPageView,
  collectionView,
  productFields,
  productView,
  productWish,
  profileView,
} from './business.ts';
export {
  changedPostFields,
  changedPostView,
  channelCodeOf,
  channelExample,
  channelFields,
  channelIdOf,
  channelView,
  durationText,
  postFields,
  postView,
} from './channel.ts';
export { campaignEventView, campaignRecipientView, folderFields, folderView, optOutView } from './campaign.ts';
export {
  avatarView,
  bookView,
  chatDetailsView,
  chatIdsOf,
  chatLabelsView,
  chatStatsView,
  type ChatView,
  chatView,
  checkedNumberView,
  type CompactChatView,
  compactChatView,
  compactFields,
  contactView,
  fastChatId,
  isWholeChatId,
  phoneOf,
  removedContactView,
  savedContactView,
} from './chat.ts';
export {
  chatwootView,
  deliveryDetailsFields,
  deliveryDetailsView,
  deliveryErrorFields,
  deliveryErrorView,
  deliveryFields,
  deliveryPageView,
  savedWebhooksView,
  webhookFields,
  webhookTestView,
  webhookView,
} from './webhook.ts';
export {
  bareLabelId,
  fullLabelId,
  givenLabelId,
  keptLabelView,
  labelColors,
  labelFields,
  labelView,
  leadTagFields,
  leadTagView,
  quickReplyFields,
  quickReplyView,
  retagged,
} from './definitions.ts';
export { contractPorts, envelopeView, placeholderText } from './ports.ts';
export { addModes, addRequest, failedView, groupFields, groupView, inviteCodeOf, inviteLink, memberOutcomeView, timerOf } from './group.ts';
export { callView, historyRequestView, historyStatusView, historyView, newsView } from './news.ts';
export { actorView, changesView, stepView } from './inspector.ts';
export { capView, instanceFields, instanceView, limitsEndpoint, limitsView, timeLockView } from './instance.ts';
export {
  citiesView,
  cityFields,
  countriesView,
  countryFields,
  proxyFields,
  proxyView,
  RoleName,
  serverStatusFields,
  serverStatusView,
  sessionFields,
  sessionView,
} from './server.ts';
export {
  confirmations,
  deletedView,
  downloadedView,
  eventMessageView,
  fullMessageId,
  messageEventView,
  messageView,
  receiptsView,
  starredView,
  statusView,
} from './message.ts';
export { isoTime, timeText } from './formats.ts';
