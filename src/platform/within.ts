/** Bounded waiting for work whose failure changes nothing for whoever waits. */

/** Resolves when the work has ended, well or badly, at the latest after `ms`. True when it ended well and in time. */
export const within = async (ms: number, work: Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const ended = work.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([ended, limit]);
  } finally {
    clearTimeout(timer);
  }
};
