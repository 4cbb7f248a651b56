/** The shapes that documents contain once, and to which `ref` refers. */
import type { TSchema } from 'typebox';
import { Channel } from './channel.ts';
import { Folder } from './campaign.ts';
import { Chat, LeadTag } from './chat.ts';
import { ChatbotAgent, ChatbotTrigger } from './chatbot.ts';
import { Label, QuickReply } from './definition.ts';
import { Group } from './group.ts';
import { eventSchemas } from './events.ts';
import { Delivery, Webhook } from './webhook.ts';
import { ErrorBody, PlatformErrorBody } from './errors.ts';
import { Instance } from './instance.ts';
import { Message } from './message.ts';

export const sharedSchemas: readonly TSchema[] = [
  ErrorBody,
  PlatformErrorBody,
  Instance,
  Message,
  Chat,
  Group,
  Channel,
  LeadTag,
  Label,
  QuickReply,
  ChatbotAgent,
  ChatbotTrigger,
  Webhook,
  Delivery,
  Folder,
  ...eventSchemas,
];
