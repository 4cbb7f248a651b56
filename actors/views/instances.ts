/** Gateway methods for instances, their proxies and chatbots, and linking an account that has a passkey. */
import type {
  ChatbotAgent,
  ChatbotTrigger,
  InstanceId,
  InstancePatch,
  InstanceRecord,
  Kept,
  PasskeyNotice,
  ProxyCatalogue,
  ProxyMode,
  ProxyRegion,
  ProxySettings,
  Result,
  Status,
} from '../model.ts';
import type { DayTokens, PasskeyAssertion, PasskeyOptions } from '../ports.ts';

// Gateway methods for instances.

/** The stored record of an instance, with the current state of its session. */
export interface InstanceView {
  readonly record: InstanceRecord;
  readonly status: Status;
  /** True if the session is authenticated and live. */
  readonly connected: boolean;
  /** True if credentials of a finished pairing exist. */
  readonly loggedIn: boolean;
  /** PNG data URL of the current QR code; '' if there is none. */
  readonly qrcode: string;
  readonly paircode: string;
  /** The passkey stage, if the platform asks for the account's passkey; else null or absent. */
  readonly passkey?: PasskeyNotice | null;
  readonly presence: 'available' | 'unavailable';
}

/** The additional fields in the answers of a disconnect and of a removal. */
export interface Unlinked {
  /** The reason why the phone still lists the device, which a person must then remove on the phone; '' if the phone does not list the device. */
  readonly stillLinked: string;
}

/** An instance that was logged out. */
export interface DisconnectedView extends InstanceView, Unlinked {}

/** The look of an instance in the phone's list of linked devices; '' for the default. Stored for the next pairing. */
export type DeviceLook = Pick<InstanceRecord, 'systemName' | 'browser' | 'system'>;

/** Commands on instances. The commands refuse an unknown id with `notFound`. */
export interface InstanceMethods {
  /** Creates an instance. With a region the instance gets a managed proxy, which is tested first (`changeProxy`). */
  create(
    input: { readonly name: string; readonly adminField01: string; readonly adminField02: string } & DeviceLook,
    region?: ProxyRegion,
  ): Promise<Result<InstanceView>>;
  all(): readonly InstanceView[];
  /** Returns all instances, each as the node that owns the instance sees it. */
  everywhere(): Promise<readonly InstanceView[]>;
  view(id: InstanceId): InstanceView | null;
  /** Returns the instance as the node that owns it sees it. */
  current(id: InstanceId): Promise<InstanceView | null>;
  /**
   * Starts pairing or connecting. The same request joins a pairing in progress. Another request restarts the pairing. Resolves within some seconds, with a
   * refusal or with the requested result: a QR code, the code for the number, a request for a passkey, or a connection.
   */
  connect(
    id: InstanceId,
    options: {
      readonly phone?: string;
      readonly region?: ProxyRegion;
      /** True if another account may be paired. The instance then starts empty. */
      readonly allowAccountChange?: boolean;
    } & Partial<DeviceLook>,
  ): Promise<Result<InstanceView>>;
  /** Logs out and deletes the credentials. The next start resumes an interrupted logout. */
  disconnect(id: InstanceId): Promise<Result<DisconnectedView>>;
  /** Closes the running session and reopens it with the same credentials. */
  reset(id: InstanceId): Promise<Result<InstanceView>>;
  /** Closes the session and keeps the credentials. */
  hibernate(id: InstanceId): Promise<Result<InstanceView>>;
  update(id: InstanceId, patch: InstancePatch): Promise<Result<InstanceView>>;
  /** Sets names of lead fields; '' removes a name. Concurrent calls do not overwrite each other's names. */
  nameLeadFields(id: InstanceId, names: Readonly<Record<string, string>>): Promise<Result<InstanceView>>;
  /** Logs out and deletes the instance with all its data. The rows of the instance are deleted in the background. */
  remove(id: InstanceId): Promise<Result<Unlinked>>;
  /**
   * Creates a new token. The old token becomes void at once and its streams end. `held`: the caller's token; absent for an administrator. A void
   * token is refused (`conflict`), so only one of concurrent calls with the same token succeeds.
   */
  rotateToken(id: InstanceId, held?: string): Promise<Result<InstanceView>>;
  /** Creates a new admin token of 50 letters and digits. Refuses with `limited` and `retryAfter` during the cooldown. */
  rotateAdminToken(): Promise<Result<string>>;
  presence(id: InstanceId, presence: 'available' | 'unavailable'): Promise<Result<null>>;
}

// Gateway methods for linking an account that has a passkey.

export interface PasskeyView extends PasskeyNotice {
  /** The options that the browser has to sign; null after the stage `assertion`. */
  readonly options: PasskeyOptions | null;
}

/** A one-time code for the browser of the account's owner. */
export interface PasskeyCode {
  /** The code, such as `ABCD-2345`. */
  readonly code: string;
  /** The end of the code's validity. In Unix milliseconds. */
  readonly expiresAt: number;
}

/** The instance of a code, or of the ticket that replaced a used code. */
export interface PasskeyLink {
  readonly id: InstanceId;
  readonly used: boolean;
}

/** Passkey methods. Each refuses with `conflict` at another stage of linking, and with `notFound` for an unknown instance. */
export interface PasskeyMethods {
  /** Returns the stage of linking; null if the platform does not ask for a passkey. */
  passkey(id: InstanceId): Promise<Result<PasskeyView | null>>;
  /** Sends the assertion that the owner's browser signed. Refuses (`invalid`) an assertion for another page, challenge or passkey, and sends nothing. */
  answerPasskey(id: InstanceId, assertion: PasskeyAssertion): Promise<Result<PasskeyView | null>>;
  /** Confirms that the owner saw the same code on the phone. */
  confirmPasskey(id: InstanceId): Promise<Result<PasskeyView | null>>;
  /** Cancels linking and its one-time code. */
  cancelPasskey(id: InstanceId): Promise<Result<null>>;
  /** Creates a one-time code. The new code replaces the previous code of the instance. */
  linkPasskey(id: InstanceId): Promise<Result<PasskeyCode>>;
  /** Returns the instance of a code or a ticket; null if the code was used, has expired or is unknown. Works on any node, because codes are stored. */
  passkeyLink(code: string): Promise<PasskeyLink | null>;
  /** Exchanges the code for a ticket, with which the browser follows the linking. Refuses (`conflict`) if the code was used meanwhile. */
  usePasskeyLink(code: string): Promise<Result<string>>;
}

// Gateway methods for proxies.

export interface ProxyView {
  readonly settings: ProxySettings;
  /** The current route of connections: the owner's proxy, the server's route (also during a fallback), or direct. */
  readonly effective: 'custom' | 'internal' | 'direct';
}

/** A change of the proxy settings. Absent fields keep their values. An absent mode follows from the other fields. */
export interface ProxyChange {
  readonly mode?: ProxyMode;
  /** The URL with its credentials. A client that sends the masked form back keeps the stored URL. */
  readonly url?: string;
  readonly fallback?: boolean;
  readonly region?: ProxyRegion;
  /** True to change to another managed proxy of the same region. */
  readonly rotate?: boolean;
  /** A confirmation for the mode `none`, which reveals the server's own address. */
  readonly confirmNone?: boolean;
}

export interface ProxyMethods {
  proxy(id: InstanceId): Result<ProxyView>;
  /** Returns the proxies of all instances, each as the node that owns the instance sees it. */
  proxies(): Promise<readonly (ProxyView & { readonly view: InstanceView })[]>;
  /**
   * Tests the proxy, then stores it. `restarted`: the running session reconnects through the gate with the same credentials. Refuses with
   * `unavailable` if no managed proxy works, or with `conflict` if no other proxy is left to rotate to.
   */
  changeProxy(id: InstanceId, change: ProxyChange): Promise<Result<ProxyView & { readonly restarted: boolean; readonly rotated: boolean }>>;
  /** Returns the catalogue. Refuses (`unavailable`) if the gateway has no catalogue. */
  proxyCatalogue(): Result<ProxyCatalogue>;
}

// Gateway methods for agents and triggers of the chatbot. The chatbot's settings are fields of the instance.

/** A change of an agent. `id`: '' creates an agent. Absent fields keep their values. */
export interface AgentEdit {
  readonly id: string;
  readonly delete: boolean;
  readonly fields: Partial<Omit<ChatbotAgent, 'id'>>;
  /** The API key; '' removes the key. */
  readonly key?: string;
}

export interface AgentView {
  readonly agent: Kept<'chatbotAgent'>;
  readonly hasKey: boolean;
}

/** A change of a trigger. `id`: '' creates a trigger. Absent fields keep their values. */
export interface TriggerEdit {
  readonly id: string;
  readonly delete: boolean;
  readonly fields: Partial<Omit<ChatbotTrigger, 'id'>>;
}

export interface ChatbotUsage {
  /** The largest number of tokens in one UTC day; 0 for no limit. */
  readonly limit: number;
  readonly days: readonly DayTokens[];
}

/** A test conversation with an agent. No contact sees the conversation. Its last text is by the user. */
export interface AgentTrial {
  /** The key of the trial, for `endTrial`. */
  readonly key: string;
  readonly agentId: string;
  readonly dialogue: readonly { readonly by: 'user' | 'assistant'; readonly text: string }[];
}

/** A tool call of a trial. The tool did not run. */
export interface TrialTool {
  readonly name: string;
  /** JSON as the model wrote it. */
  readonly arguments: string;
  /** The result that the model read. */
  readonly result: string;
}

export interface TrialAnswer {
  readonly text: string;
  /** The reason for a missing text, as a sentence; '' if the text exists. */
  readonly error: string;
  /** Tokens of all questions of the trial and of their answers. */
  readonly tokens: number;
  readonly tools: readonly TrialTool[];
}

export interface ChatbotMethods {
  agents(id: InstanceId): Promise<readonly AgentView[]>;
  /**
   * Creates, changes or deletes an agent. A deletion includes the triggers of the agent. Refuses with `notFound`, `invalid` or, beyond the limit of
   * agents, `limited`.
   */
  editAgent(id: InstanceId, edit: AgentEdit): Promise<Result<AgentView & { readonly made: boolean }>>;
  triggers(id: InstanceId): Promise<readonly Kept<'chatbotTrigger'>[]>;
  /**
   * Creates, changes or deletes a trigger. Refuses with `notFound`, with `invalid` for a trigger without a target, or with `limited` beyond the limit
   * of triggers.
   */
  editTrigger(id: InstanceId, edit: TriggerEdit): Promise<Result<{ readonly trigger: Kept<'chatbotTrigger'>; readonly made: boolean }>>;
  /**
   * Lets an agent answer a test conversation that no contact sees. Refuses with `notFound` for an unknown instance or agent. Refuses with `limited`
   * while another trial of the instance runs, and when the tokens of the day are used up. A failure of the model service is an answer with an `error`.
   */
  tryAgent(id: InstanceId, trial: AgentTrial): Promise<Result<TrialAnswer>>;
  /** Ends the trial with this key, for a caller that no longer waits for the answer. Has no effect without such a trial. */
  endTrial(id: InstanceId, key: string): Promise<Result<null>>;
  /** Returns the tokens that the agents used on each of the last days, the latest first. */
  chatbotUsage(id: InstanceId): Promise<ChatbotUsage>;
}
