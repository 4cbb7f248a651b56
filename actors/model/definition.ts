/** Definitions of an instance: labels, quick replies, lead tags, followed channels, chatbot agents and triggers. All of one kind are read at once. */
import type { Channel, ChannelListing } from './channel.ts';
import type { Label } from './chat.ts';
import type { ChatbotAgent, ChatbotTrigger } from './chatbot.ts';

export const quickReplyTypes = ['text', 'audio', 'myaudio', 'ptt', 'document', 'video', 'image'] as const;

export type QuickReplyType = (typeof quickReplyTypes)[number];

/** A text, or a file with a text, that people insert by a shortcut. */
export interface QuickReply {
  readonly id: string;
  /** True if the phone stores the quick reply. The phone stores texts alone; the gateway stores all other types. */
  readonly onPhone: boolean;
  readonly shortcut: string;
  readonly type: QuickReplyType;
  readonly text: string;
  /** URL of the file; '' for a text. */
  readonly file: string;
  readonly docName: string;
  /** Fields that only the phone uses. The fields are kept so that a change by the API does not remove them from the phone. */
  readonly keywords: readonly string[];
  readonly count: number;
}

/** A tag for leads. With `kanban` the tag is a column of a board. */
export interface LeadTag {
  readonly id: string;
  readonly name: string;
  readonly kanban: boolean;
  readonly kanbanOrder: number;
}

export interface Definitions {
  /** Deleted labels stay with their mark, because the phone may name them again. */
  readonly label: Label;
  readonly quickReply: QuickReply;
  readonly leadTag: LeadTag;
  readonly chatbotAgent: ChatbotAgent;
  readonly chatbotTrigger: ChatbotTrigger;
  readonly channel: Channel;
  readonly channelListing: ChannelListing;
}

export type DefinitionKind = keyof Definitions;

/** One definition. The id is unique among definitions of its kind and instance. */
export type Definition = { [K in DefinitionKind]: { readonly of: K; readonly value: Definitions[K] } }[DefinitionKind];

/** A definition as it is stored. Times in Unix milliseconds. */
export type Kept<K extends DefinitionKind> = Definitions[K] & { readonly created: number; readonly updated: number };

/** Removes the times before a write, because the storage sets them itself. */
export const withoutTimes = <T extends Kept<DefinitionKind>>({
  created: _created,
  updated: _updated,
  ...definition
}: T): Omit<T, 'created' | 'updated'> => definition;
