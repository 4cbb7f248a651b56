/**
 * For `node --import`: shifts the wall clock of this process by CLOCK_SHIFT_MS, and by CLOCK_JUMP_MS more at each SIGUSR2. Several jumps, separated by
 * commas, are made in turn. The monotonic clock and the timers do not change, as on a machine whose date was set.
 */
const shift = { ms: Number(process.env['CLOCK_SHIFT_MS'] ?? 0) };
const jumps = (process.env['CLOCK_JUMP_MS'] ?? '0').split(',').map(Number);
let made = 0;
if (jumps.some((jump) => jump !== 0))
  process.on('SIGUSR2', () => {
    shift.ms += jumps[made % jumps.length] ?? 0;
    made += 1;
  });

const RealDate = Date;
const { now } = RealDate;
const shifted = (): number => now() + shift.ms;

globalThis.Date = new Proxy(RealDate, {
  get: (target, key, receiver) => (key === 'now' ? shifted : (Reflect.get(target, key, receiver) as unknown)),
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [shifted()] : args, made) as object,
  apply: () => new RealDate(shifted()).toString(),
});
