/** Text messages and their link previews. */

/** The look of the text of a status post. */
export interface TextStyle {
  /** The background colour: red, green and blue as one number, such as `0xF0B330`. */
  readonly background: number;
  /** The platform's number of the font. */
  readonly font: number;
}

export interface TextContent {
  readonly kind: 'text';
  readonly text: string;
  /** The style of a status post. Other texts have none. */
  readonly style?: TextStyle;
  /** The link preview. Null for none; 'auto' fetches the preview from the first link in the text. */
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
