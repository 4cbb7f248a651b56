/** How many entries a page has. */

/** `usual` when no positive limit was sent, never more than `most`; answers tell the limit that was used. */
export const pageSize = (limit: number, { usual, most }: { readonly usual: number; readonly most: number }): number =>
  limit > 0 ? Math.min(limit, most) : usual;
