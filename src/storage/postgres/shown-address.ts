/** The address of a database as people may see it. */

/** The address of a database without its password, and without what else stands in its query. */
export const shownAddress = (address: string): string => {
  const { protocol, username, host, pathname, searchParams } = new URL(address);
  const user = username || searchParams.get('user') || '';
  return `${protocol}//${user === '' ? '' : `${user}@`}${host || searchParams.get('host') || ''}${pathname}`;
};
