/**
 * Operations are values: everything that the platform can be asked, by resource, as name → input and answer.
 *
 * An operation is declared here, handled in `src/platform/operations/`, and offered by a row in `src/http/routes/`. Waking the session, deadlines,
 * aborts, refusals and recording stand in the path between them (`session/perform.ts`), never in an operation.
 */
import type { Entry, Refusal } from './model.ts';
import type { AccountOperations } from './operations/account.ts';
import type { BusinessOperations } from './operations/business.ts';
import type { CallOperations } from './operations/call.ts';
import type { ChannelOperations } from './operations/channel.ts';
import type { ChatOperations } from './operations/chat.ts';
import type { CommunityOperations } from './operations/community.ts';
import type { ContactOperations } from './operations/contact.ts';
import type { DefinitionOperations } from './operations/definition.ts';
import type { GroupOperations } from './operations/group.ts';
import type { MessageOperations } from './operations/message.ts';
import type { PictureOperations } from './operations/picture.ts';
import type { PostOperations } from './operations/post.ts';

export type * from './operations/picture.ts';
export type * from './operations/post.ts';
export type * from './operations/account.ts';
export type * from './operations/business.ts';
export type * from './operations/call.ts';
export * from './operations/channel.ts';
export type * from './operations/chat.ts';
export type * from './operations/community.ts';
export type * from './operations/contact.ts';
export type * from './operations/definition.ts';
export type * from './operations/group.ts';
export type * from './operations/message.ts';

export interface Operations
  extends
    AccountOperations,
    BusinessOperations,
    CallOperations,
    ChannelOperations,
    ChatOperations,
    CommunityOperations,
    ContactOperations,
    DefinitionOperations,
    GroupOperations,
    MessageOperations,
    PictureOperations,
    PostOperations {}

export type OperationName = keyof Operations;
export type InputOf<N extends OperationName> = Operations[N]['input'];
export type AnswerOf<N extends OperationName> = Operations[N]['answer'];

export interface Operation<N extends OperationName = OperationName> {
  readonly name: N;
  readonly input: InputOf<N>;
}

/** Bounds of one operation. */
export interface OperationControl {
  /** Aborts when the session leaves `connected`. */
  readonly signal: AbortSignal;
  /** Unix milliseconds after which nobody waits for the answer. */
  readonly deadline: number;
}

/**
 * What became of an operation. `entries`: what the handler learned and the gateway must store; the recorder is the only writer.
 * The reasons of a refusal say what happened to the world: see `Refusal`.
 */
export type Outcome<Answer> =
  | { readonly ok: true; readonly value: Answer; readonly entries?: readonly Entry[] }
  | { readonly ok: false; readonly refusal: Refusal };
