/** The shapes that documents name once and `ref` points at. */
import type { TSchema } from 'typebox';
import { Chat } from './chat.ts';
import { Label, QuickReply } from './definition.ts';
import { Group } from './group.ts';
import { Delivery } from './delivery.ts';
import { ErrorBody, PlatformErrorBody } from './errors.ts';
import { Instance } from './instance.ts';
import { LeadTag } from './lead.ts';
import { Message } from './message.ts';
import { Webhook } from './webhook.ts';

export const sharedSchemas: readonly TSchema[] = [
  ErrorBody,
  PlatformErrorBody,
  Instance,
  Message,
  Chat,
  Group,
  LeadTag,
  Label,
  QuickReply,
  Webhook,
  Delivery,
];
