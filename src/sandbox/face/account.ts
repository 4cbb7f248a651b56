/** The account's profile and privacy, and the people whom it blocks. Clients and the owner of the phone change them. */
import type { Digits } from './common.ts';

export interface AccountView {
  readonly about: string;
  /** Privacy by category (`profile`, `status`, `last`, `online`, `groupadd`, `readreceipts`, `calladd`, `messages`): `all`, `contacts`, `none`, … */
  readonly privacy: Readonly<Record<string, string>>;
  readonly blocked: readonly Digits[];
  readonly picture?: { readonly id: string; readonly url: string };
  /** Seconds after which messages of new chats disappear; 0: never. */
  readonly disappearing: number;
  readonly online: boolean;
  /** People to whose presence the connected clients subscribed. */
  readonly subscriptions: readonly Digits[];
}

export interface AccountFace {
  account(number: Digits): AccountView;
  /** The owner changes the account on the phone. `picture`: bytes in base64; '' removes it. */
  changeAccount(
    number: Digits,
    change: {
      readonly about?: string;
      /** '' for none. */
      readonly username?: string;
      readonly privacy?: Readonly<Record<string, string>>;
      readonly blocked?: readonly Digits[];
      readonly picture?: string;
    },
  ): Promise<AccountView>;
}
