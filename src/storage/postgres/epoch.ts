/** The epoch that follows another one, as an expression of SQL. */

/**
 * The next epoch of an instance, total for any stored value. No instance has two thousand million owners, so the highest integer is a damaged value.
 * The epochs after it begin at the lowest integer, which no former owner holds: the fence stays.
 */
export const nextEpoch = 'case when instance.epoch = 2147483647 then -2147483648 else instance.epoch + 1 end';
