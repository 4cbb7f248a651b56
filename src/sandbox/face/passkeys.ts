/** Passkeys of accounts: an account with one is linked only after its owner has signed a challenge. */
import type { Digits } from './common.ts';

/** `PublicKeyCredentialRequestOptionsJSON`, as the platform sends it. Binary values are base64url without padding. */
export interface RequestOptions {
  readonly challenge: string;
  /** In milliseconds. */
  readonly timeout: number;
  readonly rpId: string;
  readonly allowCredentials: readonly { readonly id: string; readonly type: 'public-key' }[];
  readonly userVerification: 'required';
  readonly extensions: { readonly uvm: boolean };
}

/** The result of a browser's `PublicKeyCredential.toJSON()`, reduced to the fields that the platform takes. */
export interface Assertion {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle: string | null;
  };
}

/** The steps in their order. `refused`: the ceremony is over. */
export type CeremonyStage = 'requested' | 'proven' | 'revealed' | 'linking' | 'refused';

/** Faults of the ceremony. `bare`: the request names no options; `stall`: no continuation comes; `twice`: two of them come. */
export type CeremonyFault = 'refuse' | 'bare' | 'stall' | 'twice';

export interface PasskeyView {
  /** The credential id, base64url. */
  readonly id: string;
  /** The stage of the link that waits for this passkey; null if none does. */
  readonly stage: CeremonyStage | null;
  /** The code that the phone shows, '' before there is one. */
  readonly code: string;
  /** The phone asks for no comparison of codes. */
  readonly handedOff: boolean;
}

/** `PublicKeyCredentialCreationOptionsJSON` and `RegistrationResponseJSON` of WebAuthn. */
export type CreationOptions = Readonly<Record<string, unknown>>;
export type Registration = Readonly<Record<string, unknown>>;

export interface PasskeysFace {
  /** Returns the options that a real authenticator needs to make a passkey for the account. */
  passkeyOptions(number: Digits): Promise<CreationOptions>;
  /** Gives the account a passkey: that of a real authenticator, or without `registration` one whose private key is kept here. */
  givePasskey(number: Digits, given: { readonly registration?: Registration; readonly fault?: CeremonyFault }): Promise<PasskeyView>;
  passkey(number: Digits): PasskeyView;
  /** The account has none any more. */
  takePasskey(number: Digits): Promise<void>;
  /** Signs as the owner's browser on a page of `origin` would; only with a passkey that is kept here. */
  signWithPasskey(number: Digits, options: RequestOptions, origin?: string): Promise<Assertion>;
}
