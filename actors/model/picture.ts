/** Pictures of people and groups, as the platform shows them to the account. */

/** `image`: the whole picture; `preview`: a small one. */
export type PictureKind = 'image' | 'preview';

/** What the platform says of a picture. `hidden`: the account may not see it. */
export interface Picture {
  readonly state: 'there' | 'hidden' | 'absent';
  /** Where the platform has it, for some days; '' when it is not there. */
  readonly url: string;
}

/** The answer of a look-up. `id`: the chat's; `at`: Unix milliseconds. */
export interface LookedPicture extends Picture {
  readonly id: string;
  readonly kind: PictureKind;
  readonly at: number;
}
