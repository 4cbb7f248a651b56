/** Pictures of people and groups, as the platform shows them to the account. */

/** The kinds of pictures. `image`: the whole picture; `preview`: a small one. */
export type PictureKind = 'image' | 'preview';

/** The platform's answer about a picture. `hidden`: the account may not see the picture. */
export interface Picture {
  readonly state: 'there' | 'hidden' | 'absent';
  /** The platform's URL of the picture, valid for some days; '' if there is none. */
  readonly url: string;
}

/** The result of a look-up. `id`: the chat id; `at`: Unix milliseconds. */
export interface LookedPicture extends Picture {
  readonly id: string;
  readonly kind: PictureKind;
  readonly at: number;
}
