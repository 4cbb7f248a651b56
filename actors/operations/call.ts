/** Operations on calls. */

export interface CallOperations {
  /**
   * Rejects a ringing call: the one with this id, the one from this number, or the last one if both are ''. Refuses with `notFound` if no such call
   * rings.
   */
  'call.reject': { readonly input: { readonly number: string; readonly id: string }; readonly answer: null };
  /** Places a call. Always refuses a valid number with `notSupported`. */
  'call.make': { readonly input: { readonly number: string }; readonly answer: null };
}
