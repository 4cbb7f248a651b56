/** The type of a composer, which makes the platform's form of one kind of content. */
import type { proto } from '@whiskeysockets/baileys';
import { done, type Result } from '#actors/model.ts';
import type { LiveConnection } from './live-connection.ts';
import type { Directory } from '../wire/directory.ts';
import type { Answer, Asked } from './answers.ts';

export interface Composer<Content> {
  /** It uploads a file, within a time limit of its own. */
  readonly uploads?: true;
  /** The content for the chat `jid`, without quotes, mentions and marks, which `compose` adds to every kind. Refused (`invalid`) when it cannot be made. */
  content(content: Content, connection: LiveConnection, jid: string): Promise<Result<proto.IMessage>>;
  /** In place of `content`, where the send replies to a message that is answered in a form of its own; null where it is not. */
  answer?(content: Content, asked: Asked, directory: Directory): Result<Answer> | null;
  /** The same without a connection, as far as that goes: it says the kind and the text of the message. */
  draft(content: Content): proto.IMessage;
  /** The draft is complete: the content needs nothing from the network. */
  isComplete(content: Content): boolean;
  /** The same as `content`, for a channel. Kinds without it are not posted in channels. */
  post?(content: Content, connection: LiveConnection): Promise<Result<Posted>>;
  /** The kept form of a message whose content is encrypted once more; null for the content itself. */
  recorded?(content: Content, made: proto.IMessage): Recorded | null;
}

/** The content of a post, and the platform's name for its uploaded file; '' without one. */
export interface Posted {
  readonly message: proto.IMessage;
  readonly mediaId: string;
}

/** A kind of content that needs nothing but itself. */
export const plainComposer = <Content>(of: (content: Content) => proto.IMessage): Composer<Content> => ({
  content: async (content) => done(of(content)),
  draft: of,
  isComplete: () => true,
});

/** A message as it is kept, where that is not what is sent. */
export interface Recorded {
  readonly message: proto.IMessage;
  /** Id of the message that this one edits. */
  readonly edited: string;
}

/** For functions of the library that want to be able to upload. */
export const noUpload = (): Promise<never> => Promise.reject(new Error('this kind of content uploads nothing'));
