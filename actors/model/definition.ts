/** What is defined once for an instance: labels, quick replies, tags of leads, the channels it follows, the chatbot's agents and triggers. All of one kind are read at once. */
import type { Channel, ChannelListing } from './channel.ts';
import type { Label } from './chat.ts';
import type { ChatbotAgent, ChatbotTrigger } from './chatbot.ts';

export const quickReplyTypes = ['text', 'audio', 'myaudio', 'ptt', 'document', 'video', 'image'] as const;

export type QuickReplyType = (typeof quickReplyTypes)[number];

/** A text, or a file with a text, that people insert by a shortcut. */
export interface QuickReply {
  readonly id: string;
  /** Kept on the phone, which knows texts alone; the others are kept here. */
  readonly onPhone: boolean;
  readonly shortcut: string;
  readonly type: QuickReplyType;
  readonly text: string;
  /** Address of the file, '' for a text. */
  readonly file: string;
  readonly docName: string;
  /** What else the phone knows of it, kept so that a change here does not take it away there. */
  readonly keywords: readonly string[];
  readonly count: number;
}

/** A tag that leads may have. With `kanban` it is a column of a board. */
export interface LeadTag {
  readonly id: string;
  readonly name: string;
  readonly kanban: boolean;
  readonly kanbanOrder: number;
}

export interface Definitions {
  /** Those that were deleted stay, with their mark: the phone may name them again. */
  readonly label: Label;
  readonly quickReply: QuickReply;
  readonly leadTag: LeadTag;
  readonly chatbotAgent: ChatbotAgent;
  readonly chatbotTrigger: ChatbotTrigger;
  readonly channel: Channel;
  readonly channelListing: ChannelListing;
}

export type DefinitionKind = keyof Definitions;

/** One definition, whose id is unique among those of its kind and instance. */
export type Definition = { [K in DefinitionKind]: { readonly of: K; readonly value: Definitions[K] } }[DefinitionKind];

/** As it is stored. Unix milliseconds. */
export type Kept<K extends DefinitionKind> = Definitions[K] & { readonly created: number; readonly updated: number };

/** As it is written: the storage keeps the times itself. */
export const withoutTimes = <T extends Kept<DefinitionKind>>({
  created: _created,
  updated: _updated,
  ...definition
}: T): Omit<T, 'created' | 'updated'> => definition;
