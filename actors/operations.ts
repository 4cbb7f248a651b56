/**
 * Operations as values: all requests to the platform by resource, each as a name with its input and answer.
 *
 * An operation is declared in `operations/`, handled in `src/platform/operations/`, and offered by a row in `src/http/routes/`. The path between
 * them (`session/requests.ts`) wakes the session and handles deadlines, aborts, refusals and recording. An operation does none of these.
 */
import type { Entry, Refusal } from './model.ts';
import type { AccountOperations, BusinessOperations, CallOperations, PictureOperations } from './operations/account.ts';
import type { ChannelOperations, PostOperations } from './operations/channel.ts';
import type { ChatOperations, ContactOperations, DefinitionOperations } from './operations/chat.ts';
import type { CommunityOperations, GroupOperations } from './operations/group.ts';
import type { MessageOperations } from './operations/message.ts';

export type * from './operations/account.ts';
export * from './operations/channel.ts';
export type * from './operations/chat.ts';
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

/** The signal and the deadline that end one operation. */
export interface OperationControl {
  /** Aborts when the session leaves `connected`. */
  readonly signal: AbortSignal;
  /** The deadline, after which no caller waits for the answer. In Unix milliseconds. */
  readonly deadline: number;
}

/**
 * The outcome of an operation. `entries`: facts for the recorder to store. A handler itself stores nothing, because the recorder is the only writer. The
 * reason of a refusal says if the request may have taken effect (`Refusal`).
 */
export type Outcome<Answer> =
  | { readonly ok: true; readonly value: Answer; readonly entries?: readonly Entry[] }
  | { readonly ok: false; readonly refusal: Refusal };
