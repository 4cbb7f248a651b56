/** Gateway methods for linking an account that has a passkey. */
import type { InstanceId, PasskeyNotice, Result } from '../model.ts';
import type { PasskeyAssertion, PasskeyOptions } from '../ports.ts';

export interface PasskeyView extends PasskeyNotice {
  /** The options that the browser has to sign; null after the stage `assertion`. */
  readonly options: PasskeyOptions | null;
}

/** A one-time code for the browser of the account's owner. */
export interface PasskeyCode {
  /** The code, such as `ABCD-2345`. */
  readonly code: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** The instance of a code, or of the ticket that replaced a used code. */
export interface PasskeyLink {
  readonly id: InstanceId;
  readonly used: boolean;
}

/** Passkey methods. Each refuses with `conflict` at another stage of linking, and with `notFound` for an unknown instance. */
export interface PasskeyFace {
  /** Returns the stage of linking; null if the platform does not ask for a passkey. */
  passkey(id: InstanceId): Promise<Result<PasskeyView | null>>;
  /**
   * Sends the assertion that the owner's browser signed. Refuses (`invalid`), before anything is sent, an assertion for another page, challenge or
   * passkey.
   */
  answerPasskey(id: InstanceId, assertion: PasskeyAssertion): Promise<Result<PasskeyView | null>>;
  /** Confirms that the owner saw the same code on the phone. */
  confirmPasskey(id: InstanceId): Promise<Result<PasskeyView | null>>;
  /** Cancels linking and its one-time code. */
  cancelPasskey(id: InstanceId): Promise<Result<null>>;
  /** Creates a one-time code. The new code replaces the previous code of the instance. */
  linkPasskey(id: InstanceId): Promise<Result<PasskeyCode>>;
  /** Returns the link of a code or a ticket; null if the code was used, has expired or is unknown. Every node knows every code. */
  passkeyLink(code: string): Promise<PasskeyLink | null>;
  /** Uses the code up, and returns a ticket with which the browser follows the linking. Refuses (`conflict`) if the code was used meanwhile. */
  usePasskeyLink(code: string): Promise<Result<string>>;
}
