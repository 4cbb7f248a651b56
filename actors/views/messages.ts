/** Gateway methods for messages: stored messages with their chats, older messages that only the phone has, files of messages, and campaigns. */
import type {
  AiMetadata,
  Campaign,
  CampaignSend,
  Chat,
  ChatStats,
  CreatedCampaign,
  EstimatedCampaign,
  HistoryTransfer,
  InstanceId,
  Message,
  Preparation,
  Receipt,
  ReceiptCounts,
  Result,
  Send,
} from '../model.ts';
import type {
  AnswerOf,
  ByteRange,
  CampaignOptOuts,
  ChatQuery,
  InputOf,
  KeptFile,
  MessageQuery,
  OperationName,
  ReceiptQuery,
  RecipientQuery,
  RecipientRow,
  RemovedCampaigns,
  TypingState,
} from '../ports.ts';

// Gateway methods for messages and chats.

/** A client's idempotency key for one request, and the whole request as text. */
export interface GivenKey {
  readonly key: string;
  readonly request: string;
}

/** Fields of every send in addition to the content (`POST /send/text` and the other routes that send). */
export interface SendOptions extends Preparation {
  readonly trackSource: string;
  readonly trackId: string;
  /** True if the call stores the message and returns at once. The asynchronous queue then sends the message. */
  readonly async: boolean;
  /** The name of the operation that the client called. Returned as `sendFunction`. */
  readonly label: string;
  /** The client's request without base64. Returned as `sendPayload`. */
  readonly payload: unknown;
  /** The campaign of the message, and the position of its recipient in the campaign. */
  readonly folder?: { readonly id: string; readonly position: number };
  /** The client's idempotency key. The same key returns the first answer and sends nothing. */
  readonly once?: GivenKey;
  /** The origin of a message that an agent wrote. */
  readonly aiMetadata?: AiMetadata;
}

/** The outcome of one id of `markRead`. `error`: '' if the message was marked. */
export interface MarkedMessage {
  readonly id: string;
  readonly error: string;
}

interface QueueView {
  readonly status: 'idle' | 'processing' | 'waiting_connection' | 'resetting';
  readonly pending: number;
  readonly processingNow: boolean;
  readonly acceptingNewMessages: boolean;
  /** The time at which the next message leaves. In Unix milliseconds; absent unless a message waits for the pause between two messages. */
  readonly nextAt?: number;
  readonly sessionReady: boolean;
  readonly resetting: boolean;
}

/** Methods that send messages, and queries of stored messages and chats. */
export interface MessageMethods {
  /** Sends a message of any kind. Messages to one chat leave in the order of the calls, for any spelling of the chat. */
  send(id: InstanceId, send: Send, options: SendOptions): Promise<Result<Message>>;
  /** Performs an operation that is one request to the platform. Wakes a hibernated session. */
  perform<N extends OperationName>(id: InstanceId, name: N, input: InputOf<N>): Promise<Result<AnswerOf<N>>>;
  /** Marks messages as read and returns one outcome for each id. Ids may have any form. Messages from others get read receipts. */
  markRead(id: InstanceId, ids: readonly string[]): Promise<Result<readonly MarkedMessage[]>>;
  /**
   * Shows typing or recording in a chat for `delay` milliseconds, or until a message to that chat is sent. Resolves after the first stanza. The state
   * `paused` ends the display early.
   */
  showTyping(id: InstanceId, number: string, state: TypingState, delay: number): Promise<Result<null>>;
  /**
   * Returns the receipts of group members for an own message. The id may have any form. Refuses with `notFound` for an unknown message, or `invalid`
   * for a message that is not an own group message.
   */
  receipts(
    id: InstanceId,
    messageId: string,
    page: Omit<ReceiptQuery, 'messageId'>,
  ): Promise<
    Result<{ readonly message: Message; readonly receipts: readonly Receipt[]; readonly more: boolean; readonly counts: ReceiptCounts }>
  >;
  findMessages(id: InstanceId, query: MessageQuery): Promise<{ readonly messages: readonly Message[]; readonly more: boolean }>;
  findChats(
    id: InstanceId,
    query: ChatQuery,
  ): Promise<{ readonly chats: readonly Chat[]; readonly total: number; readonly stats: ChatStats }>;
  queue(id: InstanceId): Promise<QueueView>;
  /**
   * Deletes a message for everyone. The id may have any form. A message in the asynchronous queue is cancelled, which needs no session. `at`: the
   * time in Unix milliseconds. Refuses with `conflict` while the message is being sent, and otherwise like `message.delete`.
   */
  deleteMessage(id: InstanceId, messageId: string): Promise<Result<AnswerOf<'message.delete'>>>;
  /** Cancels the messages in the asynchronous queue, and returns their number. */
  clearQueue(id: InstanceId): Promise<Result<number>>;
}

// Gateway methods for older messages, which only the phone has.

export interface HistoryAsk {
  readonly number: string;
  /**
   * The message before which the phone searches, in any form of its id. Without an id (''), the phone searches before `at`, or else before the oldest stored
   * message of the chat.
   */
  readonly messageId: string;
  /** The time before which the phone searches if the message is not stored; null if not given. In Unix milliseconds. */
  readonly at: number | null;
  readonly fromMe: boolean;
  readonly count: number;
  /** The id of the request; '' for a generated id. */
  readonly requestId: string;
  /** True to search only before a stored message. */
  readonly exact: boolean;
  /** True to repeat the request under the alternative address of the chat if the phone finds nothing under the first address. */
  readonly alternates: boolean;
  /** The time for which the caller waits for the phone's answer. In milliseconds; 0 for no wait. */
  readonly wait: number;
}

/** A request for history that was sent to the phone. Requests are only in memory, and the received messages are stored. */
export interface HistoryRequest {
  readonly id: string;
  readonly chatId: string;
  /** The time of the request. In Unix milliseconds. */
  readonly at: number;
  /** The state. `unanswered`: the phone was silent for a minute. A later answer is still stored. */
  readonly state: 'pending' | 'answered' | 'unanswered';
  readonly answer: HistoryTransfer | null;
}

export interface HistoryView {
  /** The history that the phone transferred without a request since the process started. */
  readonly initial: { readonly messages: number; readonly progress: number | null };
  readonly requests: readonly HistoryRequest[];
}

export interface HistoryMethods {
  /**
   * Requests older messages of a chat from the phone. The messages are stored and become `history` events. Refuses with `conflict` if the request id
   * is in use. `notFound`: the message before which the phone has to search is unknown.
   */
  requestHistory(id: InstanceId, ask: HistoryAsk): Promise<Result<HistoryRequest>>;
  histories(id: InstanceId): Promise<HistoryView>;
}

// Gateway methods for files.

export interface DownloadWish {
  /** The id of the message in any form. */
  readonly messageId: string;
  /** True to download the file of the quoted message. */
  readonly quoted: boolean;
  /** Conversion of audio to MP3. `no`: does not convert. `can`: converts if this machine can. `must`: refuses if this machine cannot convert. */
  readonly mp3: 'can' | 'must' | 'no';
  /** True to transcribe speech to text. A transcription needs an API key. */
  readonly transcribe: boolean;
  /** The API key of the transcription service; '' for the instance's own key. */
  readonly apiKey: string;
}

export interface Download {
  readonly file: KeptFile;
  /** True if the gateway already had the file, and did not ask the platform. */
  readonly cached: boolean;
  readonly transcription?: string;
}

export interface FileMethods {
  /** Returns the file of a message. A kept file is returned even while the session is disconnected. */
  download(id: InstanceId, wish: DownloadWish): Promise<Result<Download>>;
  /** Returns a file of any instance by its public name; null if there is none. */
  file(name: string): Promise<KeptFile | null>;
  /** Reads a file or a range of it; null if the file is missing. The reader must read to the end or return the iterator. */
  readFile(file: KeptFile, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
}

// Gateway methods for campaigns.

export interface CampaignInput {
  readonly info: string;
  /** The shortest pause between two messages. In milliseconds. */
  readonly delayMin: number;
  readonly delayMax: number;
  /** The start time. A time in the past starts the campaign at once. In Unix milliseconds. */
  readonly scheduledFor: number;
  /** The message for recipients without a message of their own. */
  readonly shared: CampaignSend | null;
  readonly recipients: readonly { readonly number: string; readonly own: CampaignSend | null }[];
  /** The idempotency key, as in `SendOptions`. The same key returns the first answer and makes no second campaign. */
  readonly once?: GivenKey;
}

/** The pace of the campaigns of an instance, and their remaining work. */
export interface CampaignStats {
  readonly campaigns: readonly Campaign[];
  /** The number of waiting recipients of running and scheduled campaigns. */
  readonly waiting: number;
  /** The number of campaign messages within the last 24 hours. `dailyCap` is the limit; 0 for none. */
  readonly sentToday: number;
  readonly dailyCap: number;
  /** The end of the quiet hours; null outside the quiet hours. In Unix milliseconds. */
  readonly quietUntil: number | null;
  /** The time of the next message; null if no recipient waits. In Unix milliseconds. */
  readonly nextAt: number | null;
}

export interface CampaignMethods {
  /**
   * Stores a campaign, whose messages are then sent without further calls. Refuses with `invalid` if no recipient is valid or there are too many.
   * `limited`: too many campaigns. `notSent`: the instance has no account. `conflict`: the key was used with another request.
   */
  createCampaign(id: InstanceId, input: CampaignInput): Promise<Result<CreatedCampaign>>;
  /** Pauses a campaign. A message whose send has begun is still sent. Refuses with `notFound`, or with `conflict` for a finished campaign. */
  stopCampaign(id: InstanceId, campaign: string): Promise<Result<null>>;
  /**
   * Continues a paused or finished campaign, and retries recipients whose message failed. Refuses with `notFound`, or with `conflict` for a finished
   * campaign without failures.
   */
  continueCampaign(id: InstanceId, campaign: string): Promise<Result<null>>;
  /**
   * Deletes a campaign. Later calls do not return the campaign, and its rows are deleted in the background. Sent messages stay in their chats.
   */
  deleteCampaign(id: InstanceId, campaign: string): Promise<Result<null>>;
  /** Deletes campaigns that finished at least `doneFor` milliseconds ago, or all campaigns if null. */
  clearCampaigns(id: InstanceId, doneFor: number | null): Promise<Result<RemovedCampaigns>>;
  /** Returns campaigns, newest first. `done` selects finished or unfinished campaigns; null selects all. */
  campaigns(id: InstanceId, done: boolean | null): Promise<readonly EstimatedCampaign[]>;
  /** Returns recipients of a campaign. Refuses with `notFound` for an unknown campaign. */
  campaignRecipients(
    id: InstanceId,
    query: RecipientQuery,
  ): Promise<Result<{ readonly campaign: Campaign; readonly recipients: readonly RecipientRow[] }>>;
  campaignStats(id: InstanceId): Promise<CampaignStats>;
  /** Returns contacts that opted out of campaigns, newest first. */
  optOuts(id: InstanceId, limit: number, offset: number): Promise<CampaignOptOuts>;
  /** Adds or removes opt-outs and returns the number of changed contacts. Refuses (`invalid`) a number that is not valid. */
  changeOptOuts(id: InstanceId, numbers: readonly string[], optedOut: boolean): Promise<Result<number>>;
}
