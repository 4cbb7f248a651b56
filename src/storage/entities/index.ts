/** All tables as MikroORM sees them, one file for each resource. */
import { CampaignEntity, CampaignRecipientEntity, OptOutEntity } from './campaign.ts';
import { ChatEntity } from './chat.ts';
import { ChatbotKeyEntity, ChatbotUsageEntity } from './chatbot.ts';
import { ChatwootChatEntity, ChatwootMessageEntity, ChatwootReplyEntity } from './chatwoot.ts';
import { ContactEntity } from './contact.ts';
import { DefinitionEntity } from './definition.ts';
import { ArchiveEntity, OutboxEntity, OutboxTallyEntity } from './delivery.ts';
import { FileEntity } from './file.ts';
import { GroupEntity, GroupListEntity } from './group.ts';
import { InstanceEntity } from './instance.ts';
import { MessageEntity } from './message.ts';
import { AdmissionEntity, LeaseEntity, NodeEntity, SignInEntity } from './node.ts';
import { NumberLookupEntity } from './number-lookup.ts';
import { PasskeyCodeEntity } from './passkey-code.ts';
import { ReceiptCountEntity, ReceiptEntity, ReceiptMarkEntity } from './receipt.ts';
import { RefusedEntryEntity } from './refused-entry.ts';
import { StepLogEntity } from './step-log.ts';
import { SendKeyEntity } from './send-key.ts';
import { PictureEntity } from './picture.ts';
import { SettingEntity } from './setting.ts';
import { CredentialEntity, InboundEntity, LeavingKeysEntity, RetiredCredentialEntity, RetiredKeyEntity, SignalKeyEntity } from './vault.ts';
import { WebhookEntity } from './webhook.ts';

export { InstanceEntity, type InstanceRow } from './instance.ts';
export { SettingEntity } from './setting.ts';
export { WebhookEntity, type WebhookRow } from './webhook.ts';

export const entities = [
  InstanceEntity,
  CredentialEntity,
  SignalKeyEntity,
  InboundEntity,
  RetiredCredentialEntity,
  RetiredKeyEntity,
  LeavingKeysEntity,
  MessageEntity,
  ReceiptEntity,
  ReceiptCountEntity,
  ReceiptMarkEntity,
  SendKeyEntity,
  RefusedEntryEntity,
  StepLogEntity,
  NumberLookupEntity,
  PictureEntity,
  ChatEntity,
  ContactEntity,
  ChatbotKeyEntity,
  ChatbotUsageEntity,
  DefinitionEntity,
  GroupEntity,
  GroupListEntity,
  CampaignEntity,
  CampaignRecipientEntity,
  OptOutEntity,
  WebhookEntity,
  OutboxEntity,
  OutboxTallyEntity,
  ArchiveEntity,
  SettingEntity,
  NodeEntity,
  LeaseEntity,
  AdmissionEntity,
  SignInEntity,
  PasskeyCodeEntity,
  FileEntity,
  ChatwootChatEntity,
  ChatwootMessageEntity,
  ChatwootReplyEntity,
] as const;
