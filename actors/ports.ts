/**
 * The interfaces that the actors need from the outside, by resource. `src/` implements the interfaces, and their comments are obligations of the
 * implementations.
 *
 * Unless its comment says otherwise, a method rejects only with unexpected errors (including `StorageFailure`), never for an expected failure.
 */
import type { InstanceId } from './model.ts';
import type { Attachments, FileStore, Portraits, ReadMedia, Sounds } from './ports/files.ts';
import type { ChatwootApi, ChatwootStore, ReadEvent } from './ports/chatwoot.ts';
import type { DeliveryStore, Envelope, OutboxStore, Receiver, Signer } from './ports/delivery.ts';
import type { ChatbotFields, ChatbotStore, ChatModels } from './ports/chatbot.ts';
import type {
  ChatStore,
  ContactStore,
  DefinitionStore,
  GroupStore,
  MessageExpiry,
  MessageStore,
  PictureStore,
  Placeholder,
  ReceiptExpiry,
  RecipientStore,
} from './ports/queries.ts';
import type { InstanceStore, PasskeyCodeStore, RemovalStore, SettingStore, StepStore, WebhookStore } from './ports/instance-stores.ts';
import type { CampaignStore, OptOutStore } from './ports/campaign-store.ts';
import type { Journal, RefusedStore, SendKeyStore } from './ports/journal.ts';
import type { MovingSources, SessionStore } from './ports/moving.ts';
import type { Platform } from './ports/platform.ts';
import type { AlertStore, AuditStore, FigureStore, Mailer, OneTimeCodes, Passwords, UserStore } from './ports/operator-stores.ts';
import type { Chance, Disk, Log, LogLevels, Media, Meter, Proxies, Time } from './ports/system.ts';

export type { ReadKey } from './model.ts';
export type * from './operations.ts';
export * from './ports/system.ts';
export type * from './ports/platform.ts';
export type * from './ports/files.ts';
export type * from './ports/operator-stores.ts';
export type * from './ports/chatwoot.ts';
export type * from './ports/delivery.ts';
export * from './ports/instance-stores.ts';
export type * from './ports/journal.ts';
export * from './ports/cluster.ts';
export type * from './ports/queries.ts';
export type * from './ports/chatbot.ts';
export * from './ports/moving.ts';
export type * from './ports/campaign-store.ts';

export interface Stores {
  readonly instances: InstanceStore;
  readonly webhooks: WebhookStore;
  readonly journal: Journal;
  readonly messages: MessageStore;
  readonly messageExpiry: MessageExpiry;
  readonly receiptExpiry: ReceiptExpiry;
  readonly chats: ChatStore;
  readonly definitions: DefinitionStore;
  readonly outbox: OutboxStore;
  readonly deliveries: DeliveryStore;
  readonly settings: SettingStore;
  readonly removals: RemovalStore;
  readonly sendKeys: SendKeyStore;
  readonly refused: RefusedStore;
  readonly stepLog: StepStore;
  readonly passkeyCodes: PasskeyCodeStore;
  readonly pictures: PictureStore;
  readonly recipients: RecipientStore;
  readonly groups: GroupStore;
  readonly contacts: ContactStore;
  readonly chatwootRows: ChatwootStore;
  readonly chatbots: ChatbotStore;
  readonly campaigns: CampaignStore;
  readonly optOuts: OptOutStore;
  readonly sessions: SessionStore;
  readonly users: UserStore;
  readonly auditLog: AuditStore;
  readonly figureRows: FigureStore;
  readonly alertRows: AlertStore;
}

export interface Ports extends Stores {
  /** Returns the SHA-256 in hex, for secrets that are only compared. */
  readonly digest: (text: string) => string;
  /** Returns the 99th percentile of the event loop's delay over the last one to two minutes. In milliseconds. */
  readonly loopLagMs: () => number;
  /** Returns the memory of the process (resident set size). In bytes. */
  readonly memoryBytes: () => number;
  readonly passwords: Passwords;
  readonly oneTimeCodes: OneTimeCodes;
  readonly platform: Platform;
  readonly attachments: Attachments;
  readonly sources: MovingSources;
  readonly portraits: Portraits;
  readonly receiver: Receiver;
  readonly mailer: Mailer;
  readonly chatwoot: ChatwootApi;
  readonly signer: Signer;
  readonly envelope: Envelope;
  readonly readEvent: ReadEvent;
  readonly placeholder: Placeholder;
  readonly chatbotFields: ChatbotFields;
  readonly chatModels: ChatModels;
  readonly media: Media;
  readonly files: FileStore;
  readonly mediaFacts: ReadMedia;
  /** Returns the number of files of the instance that wait for a free slot for their download. */
  downloadsWaiting(instance: InstanceId): number;
  readonly sounds: Sounds;
  readonly proxies: Proxies;
  readonly chance: Chance;
  readonly time: Time;
  readonly disk: Disk;
  readonly log: Log;
  readonly logLevels: LogLevels;
  readonly meter: Meter;
}
