/** Texts. */

/** How the text of a status post looks. */
export interface TextStyle {
  /** Colour of the ground: red, green and blue as one number, as in `0xF0B330`. */
  readonly background: number;
  /** As the platform numbers them. */
  readonly font: number;
}

export interface TextContent {
  readonly kind: 'text';
  readonly text: string;
  /** Of a status post only. */
  readonly style?: TextStyle;
  /** null: none; 'auto': fetched from the first link in the text. */
  readonly preview:
    | null
    | 'auto'
    | {
        readonly title: string;
        readonly description: string;
        /** URL, data URL or base64. */ readonly image: string;
        readonly large: boolean;
      };
}
