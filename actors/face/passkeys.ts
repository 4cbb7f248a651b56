/** What the gateway offers on linking an account that has a passkey. */
import type { InstanceId, PasskeyNotice, Result } from '../model.ts';
import type { PasskeyAssertion, PasskeyOptions } from '../ports.ts';

export interface PasskeyView extends PasskeyNotice {
  /** What the browser has to sign; null beyond the stage `assertion`. */
  readonly options: PasskeyOptions | null;
}

/** A one-time code for the browser of the account's owner. */
export interface PasskeyCode {
  /** Such as `ABCD-2345`. */
  readonly code: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** The instance of a code, or of the ticket that took the place of a used code. */
export interface PasskeyLink {
  readonly id: InstanceId;
  readonly used: boolean;
}

/** Each method refuses with `conflict` when linking is not at that stage, and with `notFound` when there is no such instance. */
export interface PasskeyFace {
  /** How far linking is; null when the platform does not ask for a passkey. */
  passkey(id: InstanceId): Promise<Result<PasskeyView | null>>;
  /** Sends what the owner's browser signed. Refused (`invalid`) before anything leaves when it is of another page, challenge or passkey. */
  answerPasskey(id: InstanceId, assertion: PasskeyAssertion): Promise<Result<PasskeyView | null>>;
  /** The owner saw the same code on the phone. */
  confirmPasskey(id: InstanceId): Promise<Result<PasskeyView | null>>;
  /** Ends linking, and the code that was made for it. */
  cancelPasskey(id: InstanceId): Promise<Result<null>>;
  /** Makes a one-time code. It replaces the last one of the instance. */
  linkPasskey(id: InstanceId): Promise<Result<PasskeyCode>>;
  /** Returns null for a code that was used, has expired, or was never made. Every node knows every code. */
  passkeyLink(code: string): Promise<PasskeyLink | null>;
  /** Uses the code up. Returns the ticket by which its browser follows the link from now on; refused (`conflict`) if the code was used meanwhile. */
  usePasskeyLink(code: string): Promise<Result<string>>;
}
