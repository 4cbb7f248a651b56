/** What the platform can be asked about calls. */

export interface CallOperations {
  /**
   * Refuses a call that rings now: that of this id, or of this number, or with neither the last one. '' is neither. Refused with `notFound` when none
   * rings that fits.
   */
  'call.reject': { readonly input: { readonly number: string; readonly id: string }; readonly answer: null };
  /** Calls somebody. Always refused with `notSupported`, when the number makes sense. */
  'call.make': { readonly input: { readonly number: string }; readonly answer: null };
}
