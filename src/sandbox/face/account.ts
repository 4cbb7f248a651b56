/** What an account shows of itself, to whom, and whom it blocks. Clients and the owner of the phone change it. */
import type { Digits } from './common.ts';

export interface AccountView {
  readonly about: string;
  /** By category (`profile`, `status`, `last`, `online`, `groupadd`, `readreceipts`, `calladd`, `messages`): `all`, `contacts`, `none`, … */
  readonly privacy: Readonly<Record<string, string>>;
  readonly blocked: readonly Digits[];
  readonly picture?: { readonly id: string; readonly url: string };
  /** Seconds after which messages of new chats disappear; 0: never. */
  readonly disappearing: number;
  readonly online: boolean;
  /** Whose presence the connected clients subscribed to. */
  readonly subscriptions: readonly Digits[];
}

export interface AccountFace {
  account(number: Digits): AccountView;
  /** The owner changes the account on the phone. `picture`: bytes in base64; '' removes it. */
  changeAccount(
    number: Digits,
    change: {
      readonly about?: string;
      readonly privacy?: Readonly<Record<string, string>>;
      readonly blocked?: readonly Digits[];
      readonly picture?: string;
    },
  ): Promise<AccountView>;
}
