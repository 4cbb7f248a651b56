/** All tables as MikroORM sees them, one file for each resource. */
import { CampaignEntity, CampaignRecipientEntity, OptOutEntity } from './campaign.ts';
import { ChatEntity, ContactEntity, GroupEntity, GroupListEntity, NumberLookupEntity, PictureEntity } from './people.ts';
import { ChatbotKeyEntity, ChatbotUsageEntity, DefinitionEntity } from './chatbot.ts';
import { ChatwootChatEntity, ChatwootMessageEntity, ChatwootReplyEntity } from './chatwoot.ts';
import { ArchiveEntity, OutboxEntity, OutboxTallyEntity } from './delivery.ts';
import {
  FileEntity,
  MessageEntity,
  ReceiptCountEntity,
  ReceiptEntity,
  ReceiptMarkEntity,
  RefusedEntryEntity,
  SendKeyEntity,
} from './message.ts';
import { InstanceEntity, PasskeyCodeEntity, SettingEntity, StepLogEntity, WebhookEntity } from './instance.ts';
import { AlertEntity, NodeTroubleEntity } from './alerts.ts';
import { FigureEntity } from './figures.ts';
import { AuditEntryEntity, GatewayUserEntity } from './users.ts';
import { AdmissionEntity, LeaseEntity, NodeEntity, SignInEntity } from './node.ts';
import { CredentialEntity, InboundEntity, LeavingKeysEntity, RetiredCredentialEntity, RetiredKeyEntity, SignalKeyEntity } from './vault.ts';

export { InstanceEntity, type InstanceRow, SettingEntity, WebhookEntity, type WebhookRow } from './instance.ts';

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
  GatewayUserEntity,
  AuditEntryEntity,
  FigureEntity,
  AlertEntity,
  NodeTroubleEntity,
  FileEntity,
  ChatwootChatEntity,
  ChatwootMessageEntity,
  ChatwootReplyEntity,
] as const;
